import { expect, test } from '@playwright/test';
import { playSpeech, toAudioBuffer } from '../../../../src/page/results/sound.ts';
import { toWav } from '../../../../src/shared/wav.ts';
import { openWav } from '../../../../src/worker/audio/wav.ts';

/** A part of `length` samples of 1000 a second, which begins after `from` of them. */
const part = (length: number, from: number, value = 0) => ({
  audio: { samples: new Float32Array(length).fill(value), sampleRate: 1000 },
  parts: [{ text: 'a', start: from / 1000, end: (from + length) / 1000 }],
});

/** Stands in for an AudioContext, whose time stands still until a test sets it. */
function fakeContext() {
  const started: { readonly at: number; readonly length: number; readonly end: () => void }[] = [];
  const log: string[] = [];
  const context = {
    currentTime: 0.5,
    destination: {},
    resume: async () => void log.push('resume'),
    close: async () => void log.push('close'),
    createBuffer: (channels: number, length: number, sampleRate: number) => ({
      channels,
      length,
      sampleRate,
      duration: length / sampleRate,
      copyToChannel(samples: Float32Array) {
        log.push(`copy ${samples.length}`);
      },
    }),
    createBufferSource() {
      const target = new EventTarget();
      const source = Object.assign(target, {
        buffer: undefined as { length: number } | undefined,
        connect: () => {},
        start: (at: number) =>
          void started.push({ at, length: source.buffer!.length, end: () => target.dispatchEvent(new Event('ended')) }),
        stop: () => void log.push('stop'),
      });
      return source;
    },
  };
  return { context: context as unknown as AudioContext & { currentTime: number }, started, log };
}

test('toWav: 16 bits, rounded and clamped; the file is read as it was written', async () => {
  const bytes = toWav({ samples: Float32Array.of(0, 0.5, -0.5, 1, -1, 3, -3, 1.4 / 0x8000), sampleRate: 22_050 });
  expect(bytes.length).toBe(44 + 16);
  const view = new DataView(bytes.buffer);
  expect([view.getUint32(4, true), view.getUint32(40, true)]).toEqual([bytes.length - 8, 16]);
  const whole = Array.from({ length: 8 }, (_, at) => view.getInt16(44 + at * 2, true));
  expect(whole).toEqual([0, 0x4000, -0x4000, 0x7fff, -0x8000, 0x7fff, -0x8000, 1]);
  const wav = await openWav(new Blob([bytes]));
  expect([wav.sampleRate, wav.length]).toEqual([22_050, 8]);
});

test('playSpeech before the first click fails, where the browser starts no context', async () => {
  const { context, log } = fakeContext();
  const before = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
  Object.defineProperty(globalThis, 'navigator', {
    value: { userActivation: { hasBeenActive: false } },
    configurable: true,
  });
  try {
    const never = Object.assign(context, { resume: () => new Promise<void>(() => {}) });
    const parts = (async function* parts() {
      yield part(20, 0);
    })();
    await expect(playSpeech(parts, { context: never })).rejects.toMatchObject({ code: 'unsupported' });
    expect(log).toEqual([]);
  } finally {
    if (before) Object.defineProperty(globalThis, 'navigator', before);
    else Reflect.deleteProperty(globalThis, 'navigator');
  }
});

test('toAudioBuffer: one channel with the samples', () => {
  const { context, log } = fakeContext();
  expect(toAudioBuffer(part(20, 0).audio, context)).toMatchObject({ channels: 1, length: 20, sampleRate: 1000 });
  expect(log).toEqual(['copy 20']);
});

test('playSpeech: parts follow one another without a gap, and the whole is not played again', async () => {
  const { context, started, log } = fakeContext();
  let isOver = false;
  const playing = playSpeech(
    (async function* () {
      yield part(100, 0);
      yield part(50, 100);
      // The reader is late: the part begins at once.
      (context as { currentTime: number }).currentTime = 2;
      yield part(10, 150);
      yield part(160, 0);
    })(),
    { context },
  ).then(() => (isOver = true));
  await expect
    .poll(() => started.map(({ at, length }) => [at, length]))
    .toEqual([
      [0.5, 100],
      [0.6, 50],
      [2, 10],
    ]);
  expect(isOver).toBe(false);
  started.at(-1)!.end();
  await playing;
  expect(log.filter((one) => one === 'close')).toEqual([]);
});

test('playSpeech: an answer that is not streamed is played whole', async () => {
  const { context, started } = fakeContext();
  const playing = playSpeech(
    (async function* () {
      yield part(160, 0);
    })(),
    { context },
  );
  await expect.poll(() => started.length).toBe(1);
  started[0]!.end();
  await playing;
});

test('playSpeech: the signal stops what sounds; an error of the stream is thrown', async () => {
  const { context, started, log } = fakeContext();
  const stop = new AbortController();
  const playing = playSpeech(
    (async function* () {
      yield part(160, 0);
    })(),
    { context, signal: stop.signal },
  );
  await expect.poll(() => started.length).toBe(1);
  stop.abort();
  await expect(playing).rejects.toMatchObject({ code: 'aborted' });
  expect(log).toContain('stop');
  // oxlint-disable-next-line require-yield
  const failing = (async function* () {
    throw new Error('lost');
  })();
  await expect(playSpeech(failing, { context })).rejects.toThrow('lost');
});

test('toAudioBuffer: a rate that the browser does not play is a typed error', () => {
  const cause = new DOMException(
    'The sample rate provided (1000) is outside the range [3000, 768000]',
    'NotSupportedError',
  );
  const context = {
    createBuffer(): never {
      throw cause;
    },
  };
  expect(() => toAudioBuffer(part(20, 0).audio, context)).toThrow(
    expect.objectContaining({
      code: 'unsupported',
      message: expect.stringMatching(/no sound of 20 samples at 1000 Hz.*3,000 to 768,000/),
      cause,
    }),
  );
});
