// Audio in the worker: WAV files, samples, and everything that is neither.
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { audioChunks } from '../../../../src/page/sequences/audio-chunks.ts';
import * as fc from 'fast-check';
import { openAudio, readAudio } from '../../../../src/worker/audio/read-audio.ts';
import type { AudioInput } from '../../../../src/contract/audio.ts';
import { TabServeError } from '../../../../src/contract/errors.ts';
import { audioFormatOf } from '../../../../src/shared/audio-format.ts';
import { nativeRate } from '../../../../src/page/requests/decode-audio.ts';

const root = new URL('../../../../', import.meta.url);

interface Recording {
  readonly file: string;
  readonly rate: number;
  readonly length: number;
  readonly samples: readonly number[];
}

const { stride, recordings } = JSON.parse(readFileSync(new URL('test/models/vad/goldens.json', root), 'utf8')) as {
  readonly stride: number;
  readonly recordings: readonly Recording[];
};

async function read(input: unknown, rate = 16_000, most = 3600): Promise<Float32Array> {
  return await readAudio(await openAudio(input as AudioInput), rate, most);
}

for (const { file, rate, length, samples } of recordings)
  test(`${file} at 16 kHz is what Python makes of it`, async () => {
    const blob = new Blob([readFileSync(new URL(file, root))]);
    expect((await openAudio(blob)).sampleRate).toBe(rate);
    const heard = await read(blob);
    expect(heard.length).toBe(length);
    const worst = samples.reduce((most, value, index) => Math.max(most, Math.abs(value - heard[index * stride]!)), 0);
    expect(worst).toBeLessThan(1e-6);
  });

interface WavOptions {
  readonly tag?: number;
  readonly bits?: number;
  readonly channels?: number;
  readonly rate?: number;
  /** What the header says of the data's size. */
  readonly size?: number;
  /** A chunk before the format. */
  readonly before?: Uint8Array;
  readonly extensible?: boolean;
  readonly align?: number;
}

function wav(data: Uint8Array, options: WavOptions = {}): Blob {
  const { tag = 1, bits = 16, channels = 1, rate = 16_000, size = data.length, before = new Uint8Array(0) } = options;
  const text = (value: string): number[] => [...value].map((one) => one.charCodeAt(0));
  const word = (value: number, bytes: number): number[] =>
    Array.from({ length: bytes }, (_, at) => Math.floor(value / 2 ** (8 * at)) % 256);
  const align = options.align ?? (channels * bits) / 8;
  const tail = options.extensible
    ? [...word(22, 2), ...word(bits, 2), ...word(0, 4), ...word(tag, 2), ...Array.from({ length: 14 }, () => 0)]
    : [];
  const format = [
    ...word(options.extensible ? 0xfffe : tag, 2),
    ...word(channels, 2),
    ...word(rate, 4),
    ...word(rate * align, 4),
    ...word(align, 2),
    ...word(bits, 2),
    ...tail,
  ];
  const bytes = [
    ...text('RIFF'),
    ...word(36 + size, 4),
    ...text('WAVE'),
    ...before,
    ...text('fmt '),
    ...word(format.length, 4),
    ...format,
    ...text('data'),
    ...word(size, 4),
    ...data,
  ];
  return new Blob([Uint8Array.from(bytes)], { type: 'audio/wav' });
}

const bytesOf = (array: ArrayBufferView): Uint8Array =>
  new Uint8Array(array.buffer as ArrayBuffer, array.byteOffset, array.byteLength);

test('every encoding: its full scale is −1..1', async () => {
  const at = (file: Blob): Promise<number[]> => read(file).then((samples) => [...samples]);
  expect(await at(wav(Uint8Array.of(0, 128, 255), { bits: 8 }))).toEqual([-1, 0, 127 / 128]);
  expect(await at(wav(bytesOf(Int16Array.of(-32768, 0, 16384))))).toEqual([-1, 0, 0.5]);
  expect(await at(wav(Uint8Array.of(0, 0, 128, 1, 0, 0, 0, 0, 64), { bits: 24 }))).toEqual([-1, 2 ** -23, 0.5]);
  expect(await at(wav(bytesOf(Int32Array.of(-(2 ** 31), 2 ** 30)), { bits: 32 }))).toEqual([-1, 0.5]);
  expect(await at(wav(bytesOf(Float32Array.of(-1.5, 0.25)), { tag: 3, bits: 32 }))).toEqual([-1.5, 0.25]);
  expect(await at(wav(bytesOf(Float64Array.of(0.5, -0.25)), { tag: 3, bits: 64 }))).toEqual([0.5, -0.25]);
  expect(await at(wav(bytesOf(Int16Array.of(0, 16384)), { extensible: true }))).toEqual([0, 0.5]);
});

test('channels are averaged, and other chunks are skipped', async () => {
  const data = bytesOf(Int16Array.of(32767, -32768, 16384, 0, -8192, -8192));
  expect([...(await read(wav(data, { channels: 2 })))]).toEqual([Math.fround(-0.5 / 32768), 0.25, -0.25]);
  const list = Uint8Array.of(76, 73, 83, 84, 3, 0, 0, 0, 1, 2, 3, 0);
  expect([...(await read(wav(data.subarray(8), { before: list })))]).toEqual([-0.25, -0.25]);
  const channels = [Float32Array.of(1, 0), Float32Array.of(0.5, 0), Float32Array.of(0, 0.75)];
  expect([...(await read({ channels, sampleRate: 16_000 }))]).toEqual([0.5, 0.25]);
});

test('a file that is larger than a block', async () => {
  const samples = Int16Array.from({ length: 1_500_000 }, (_, index) => (index * 7919) % 32768);
  const header = await wav(new Uint8Array(0), { size: samples.byteLength }).arrayBuffer();
  const heard = await read(new Blob([header, samples]));
  expect(heard.length).toBe(samples.length);
  expect(heard.slice(-3)).toEqual(Float32Array.from(samples.slice(-3), (value) => value / 32768));
});

test('a header that was written to a pipe does not know the size: the file is read to its end', async () => {
  for (const size of [0xffffffff, 0x7ffff000])
    expect([...(await read(wav(bytesOf(Int16Array.of(16384, 0)), { size })))]).toEqual([0.5, 0]);
});

test('a header with the size 0 is one of a pipe, unless the size of the whole file fits', async () => {
  const data = bytesOf(Int16Array.of(16384, 0));
  expect([...(await read(wav(data, { size: 0 })))]).toEqual([0.5, 0]);
  const bytes = new Uint8Array(await wav(data, { size: 0 }).arrayBuffer());
  const whole = (size: number): Blob => {
    new DataView(bytes.buffer).setUint32(4, size, true);
    return new Blob([bytes]);
  };
  for (const size of [0, 0xffffffff, 0x7fffffff]) expect([...(await read(whole(size)))]).toEqual([0.5, 0]);
  // Another chunk follows the empty samples.
  expect(await read(whole(bytes.length - 8))).toEqual(new Float32Array(0));
  expect(await read(wav(new Uint8Array(0)))).toEqual(new Float32Array(0));
});

test('fewer bits than their bytes have are the upper ones', async () => {
  const upper = bytesOf(Int32Array.of(-(2 ** 31), 2 ** 30, 2 ** 8));
  expect([...(await read(wav(upper, { bits: 24, align: 4 })))]).toEqual([-1, 0.5, 2 ** -23]);
  expect([...(await read(wav(upper, { bits: 20, align: 4 })))]).toEqual([-1, 0.5, 2 ** -23]);
  expect([...(await read(wav(bytesOf(Int16Array.of(16384, -32768)), { bits: 12, align: 2 })))]).toEqual([0.5, -1]);
  const stereo = bytesOf(Int32Array.of(2 ** 30, 0));
  expect([...(await read(wav(stereo, { bits: 24, align: 8, channels: 2 })))]).toEqual([0.25]);
});

test('the format of audio is known by its first bytes', () => {
  const start = (text: string): Uint8Array =>
    Uint8Array.from([...text.padEnd(12, '\0')].map((one) => one.charCodeAt(0)));
  for (const [audio, format] of [
    ['OggS\0', 'Ogg'],
    ['fLaC\0', 'FLAC'],
    ['\x1aE\xdf\xa3', 'WebM'],
    ['ID3\x03', 'MP3'],
    ['\xff\xfb\x90', 'MP3'],
    ['\xff\xf3\x90', 'MP3'],
    ['\xff\xf1\x50', 'AAC'],
    ['\0\0\0\x20ftypM4A ', 'MP4'],
    ['\0\0\0\x20ftypisom', 'MP4'],
    ['FORM0000AIFF', 'AIFF'],
    ['caff\0', 'CAF'],
    ['RIFF0000WAVE', 'WAV'],
  ] as const)
    expect(audioFormatOf(start(audio)), audio).toBe(format);
  for (const other of [
    '\xff\xd8\xff\xe0',
    '\x89PNG',
    'RIFF0000WEBP',
    '\0\0\0\x20ftypavif',
    '\0\0\0\x20ftypheic',
    '\0\0\0\x20ftypmif1',
    '\xff\n',
    'ID3 is a tag',
    'a text',
    '',
  ])
    expect(audioFormatOf(start(other)), other).toBeUndefined();
});

const silence = new Float32Array(10);

/** What a user could pass, and a part of the message that says what to do. */
const BAD: readonly (readonly [what: string, input: unknown, message: RegExp])[] = [
  ['a truncated file', wav(new Uint8Array(10), { size: 1000 }), /truncated: its header says 1000 bytes .* has 10/],
  ['a file that claims almost 2 GB', wav(new Uint8Array(10), { size: 0x7fffefff }), /truncated/],
  [
    'an MP4',
    new Blob(['\0\0\0\x1cftypisom\0\0']),
    /is MP4, and its sound cannot be decoded here.*ffmpeg -i FILE sound\.wav/,
  ],
  ['an MP3', new Blob(['ID3\x04\0\0\0\0\0\0\0\0']), /is MP3, and its sound cannot be decoded here/],
  ['a text', new Blob(['not audio'], { type: 'text/plain' }), /no audio of a format.*"text\/plain".*audio\/mpeg/],
  ['the page for a missing file', new Blob(['<!doctype html>'], { type: 'text/html' }), /page of HTML.*Check its URL/],
  ['an empty file', new Blob([]), /is empty/],
  ['half a header', wav(new Uint8Array(10)).slice(0, 30), /"fmt " has 10 bytes/],
  ['no samples', wav(new Uint8Array(10)).slice(0, 38), /damaged: it has no samples/],
  ['no format', new Blob([new TextEncoder().encode('RIFF\0\0\0\0WAVEdata\0\0\0\0')]), /"fmt " is missing/],
  ['A-law', wav(new Uint8Array(10), { tag: 6, bits: 8 }), /encoding 6 with 8 bits.*16-bit PCM/],
  ['no channel', wav(new Uint8Array(10), { channels: 0 }), /0 channels/],
  ['channels that do not fit', wav(new Uint8Array(10), { align: 7 }), /in 7 bytes/],
  ['a file with the rate 0', wav(new Uint8Array(10), { rate: 0 }), /sample rate must be .* not 0/],
  ['a NaN in a file', wav(bytesOf(Float32Array.of(0, NaN)), { tag: 3, bits: 32 }), /NaN at sample 1/],
  ['NaN', { samples: Float32Array.of(0, 0, NaN), sampleRate: 16_000 }, /NaN at sample 2/],
  ['infinity', { samples: Float32Array.of(Infinity), sampleRate: 16_000 }, /Infinity at sample 0/],
  ['the rate 0', { samples: silence, sampleRate: 0 }, /1000 to 768000, not 0/],
  ['the rate 1e9', { samples: silence, sampleRate: 1e9 }, /not 1000000000/],
  ['a rate that is no whole number', { samples: silence, sampleRate: 44_100.5 }, /whole number/],
  ['no rate', { samples: silence }, /not undefined/],
  ['channels of different lengths', { channels: [silence, silence.slice(1)], sampleRate: 8_000 }, /10 and 9 samples/],
  ['channels of none', { channels: [], sampleRate: 8_000 }, /Expected audio/],
  ['integers', { samples: new Int16Array(4), sampleRate: 8_000 }, /Float32Array/],
  ['a string', 'speech.wav', /Expected audio.*"speech.wav"/],
  ['an unknown key', { samples: silence, sampleRate: 8_000, chanels: 2 }, /unknown key "chanels"/],
  ['a count of lost channels', { channels: [silence], dropped: 1, sampleRate: 8_000 }, /unknown key "dropped"/],
  ['samples beside channels', { channels: [silence], samples: silence, sampleRate: 8_000 }, /unknown key "samples"/],
  ['null', null, /Expected audio.*null/],
];

for (const [what, input, message] of BAD)
  test(`${what}: invalid-input, with what to do`, async () => {
    const error = await read(input).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(TabServeError);
    expect(error).toMatchObject({ code: 'invalid-input', message: expect.stringMatching(message) });
  });

test('a recording that is too long is refused before it is decoded', async () => {
  await expect(read({ samples: new Float32Array(1000), sampleRate: 1000 }, 16_000, 0.5)).rejects.toMatchObject({
    code: 'invalid-input',
    message: expect.stringContaining('raise handler.maxDuration'),
  });
});

test('whatever the bytes after a WAV header are: samples, or a TabServeError', async () => {
  const file = new Uint8Array(await wav(bytesOf(Int16Array.of(1, 2, 3, 4))).arrayBuffer());
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat({ max: file.length - 1 }), fc.nat({ max: 255 })), { maxLength: 6 }),
      async (changes) => {
        const bytes = file.slice();
        for (const [at, value] of changes) bytes[at] = value;
        const result = await read(new Blob([bytes])).catch((error: unknown) => error);
        expect(result instanceof Float32Array || result instanceof TabServeError).toBe(true);
      },
    ),
    { numRuns: 300 },
  );
});

test('the sample rate in the header of other formats', () => {
  const bytes = (text: string, ...more: number[]): Uint8Array =>
    Uint8Array.from([...[...text].map((one) => one.charCodeAt(0)), ...more]);
  const zeros = (count: number): number[] => Array.from({ length: count }, () => 0);
  // FLAC: 44,100 = 0x0ac44 in the 20 bits after the sizes.
  expect(nativeRate(bytes('fLaC', ...zeros(14), 0x0a, 0xc4, 0x42, 0xf0))).toBe(44_100);
  // MPEG 1, layer III, 48 kHz; MPEG 2, 22.05 kHz behind an ID3 tag of 2 bytes; AAC in ADTS, 44.1 kHz.
  expect(nativeRate(Uint8Array.of(0xff, 0xfb, 0x94, 0))).toBe(48_000);
  expect(nativeRate(bytes('ID3', 3, 0, 0, 0, 0, 0, 2, 9, 9, 0xff, 0xf3, 0x90, 0))).toBe(22_050);
  expect(nativeRate(Uint8Array.of(0xff, 0xf1, 0x50, 0x80))).toBe(44_100);
  const ogg = bytes('OggS', ...zeros(22), 1, 30);
  expect(nativeRate(Uint8Array.from([...ogg, ...bytes('\x01vorbis', 0, 0, 0, 0, 2, 0x22, 0x56, 0, 0)]))).toBe(22_050);
  expect(nativeRate(Uint8Array.from([...ogg, ...bytes('OpusHead', ...zeros(11))]))).toBeUndefined();
  const mp4 = [...zeros(4), ...bytes('ftyp', ...zeros(8)), ...bytes('mp4a', ...zeros(24), 0x7d, 0x00, 0, 0)];
  expect(nativeRate(Uint8Array.from(mp4))).toBe(32_000);
  for (const nothing of [bytes(''), bytes('fLaC'), bytes('OggS'), bytes('RIFF'), new Uint8Array(100)])
    expect(nativeRate(nothing)).toBeUndefined();
});

test('a live track that cannot be read, and a signal that is aborted or none: a TabServeError, and nothing is left open', async () => {
  const track = { kind: 'audio', readyState: 'live' } as MediaStreamTrack;
  const read = (options = {}): Promise<unknown> => audioChunks(track, options).next();
  await expect(read({ signal: AbortSignal.abort(new Error('left')) })).rejects.toMatchObject({
    code: 'aborted',
    message: "The stream's signal ended it: left",
  });
  let open = 0;
  class FakeContext {
    readonly close = async (): Promise<void> => void (open -= 1);
    constructor() {
      open += 1;
    }
    createMediaStreamSource(): never {
      throw new Error('the track has just ended');
    }
  }
  const global = globalThis as Record<string, unknown>;
  global['AudioContext'] = FakeContext;
  global['MediaStream'] = Object;
  try {
    await expect(read()).rejects.toMatchObject({
      name: 'TabServeError',
      code: 'invalid-input',
      message: expect.stringContaining('just ended'),
    });
    await expect(read({ signal: 5 })).rejects.toMatchObject({
      name: 'TabServeError',
      code: 'invalid-input',
      message: expect.stringContaining('signal'),
    });
    expect(open).toBe(0);
  } finally {
    delete global['AudioContext'];
    delete global['MediaStream'];
  }
});

test('a track that has ended, one of video, and what is no track: told before anything is opened', async () => {
  const first = (track: unknown): Promise<unknown> => audioChunks(track as MediaStreamTrack).next();
  for (const [track, message] of [
    [{ kind: 'audio', readyState: 'ended' }, /ended/],
    [{ kind: 'video', readyState: 'live' }, /client\.frames\(track\)/],
    [{}, /Expected an audio track/],
    ['microphone', /Expected an audio track.*"microphone"/],
  ] as const)
    await expect(first(track)).rejects.toMatchObject({
      code: 'invalid-input',
      message: expect.stringMatching(message),
    });
});

test('a track that changes its sample rate: no piece has both, and what nobody read for ten seconds is counted', async () => {
  const blocks: readonly (readonly [length: number, sampleRate: number])[] = [
    ...Array.from({ length: 11 }, () => [16_000, 16_000] as const),
    [4800, 48_000],
    [4800, 48_000],
    [1600, 16_000],
  ];
  class FakeProcessor {
    readonly readable = new ReadableStream({
      start(controller) {
        for (const [numberOfFrames, sampleRate] of blocks)
          controller.enqueue({
            numberOfFrames,
            sampleRate,
            numberOfChannels: 1,
            copyTo: (channel: Float32Array) => channel.fill(sampleRate),
            close() {},
          });
        controller.close();
      },
    });
  }
  const global = globalThis as Record<string, unknown>;
  global['MediaStreamTrackProcessor'] = FakeProcessor;
  try {
    const chunks = audioChunks({ kind: 'audio', readyState: 'live' } as MediaStreamTrack);
    const seen: (readonly [number, number, number])[] = [];
    const first = chunks.next();
    await new Promise((resolve) => setTimeout(resolve));
    for (let { value } = await first; value; { value } = await chunks.next()) {
      expect(value.samples.every((sample) => sample === value!.sampleRate)).toBe(true);
      seen.push([value.samples.length, value.sampleRate, value.dropped]);
    }
    // The first second was asked for before it was there, and read at once; of the others, ten are kept.
    expect(seen).toEqual([
      [16_000, 16_000, 0],
      [9 * 16_000, 16_000, 16_000],
      [9600, 48_000, 0],
      [1600, 16_000, 0],
    ]);
  } finally {
    delete global['MediaStreamTrackProcessor'];
  }
});
