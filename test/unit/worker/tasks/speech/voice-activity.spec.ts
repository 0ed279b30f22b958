// The voice activity detector over a stand-in for Silero VAD, which has the same inputs and a memory too. The real
// model runs in test/browser/voice.spec.ts.
import { expect, test } from '@playwright/test';
import { VoiceActivityDetector } from '../../../../../src/worker/tasks/speech/voice-activity-detector.ts';
import { createTestContext } from '../../../../../src/worker/host/test-context.ts';
import { createTestHandler, type TestHandler } from '../../../../../src/worker/host/testing.ts';
import { PredictionError } from '../../../../../src/contract/errors.ts';
import type { TensorInfo, Tensors } from '../../../../../src/contract/tensors.ts';

const INPUTS: readonly TensorInfo[] = [
  { name: 'input', dtype: 'float32', dims: [null, null] },
  { name: 'state', dtype: 'float32', dims: [2, null, 128] },
  { name: 'sr', dtype: 'int64', dims: [] },
];

/**
 * The louder a window and what was heard before, the more probable. Each number of the state takes part, and so does
 * its place.
 */
function model({ input, state }: Tensors): Tensors {
  const [rows, length] = input!.dims as [number, number];
  const output = new Float32Array(rows);
  const stateN = new Float32Array(2 * rows * 128);
  for (let row = 0; row < rows; row++) {
    let loud = 0;
    for (let at = 0; at < length; at++) loud += Math.abs(Number(input!.data[row * length + at])) * (at < 64 ? 2 : 1);
    let memory = 0;
    for (const layer of [0, 1])
      for (let at = 0; at < 128; at++) {
        const place = (layer * rows + row) * 128 + at;
        memory += Number(state!.data[place]) * (layer + 1) * (at + 1);
        stateN[place] = 0.5 * Number(state!.data[place]) + (loud * (at + 1)) / (1e5 * (layer + 1));
      }
    output[row] = 1 - Math.exp(-loud / 40 - memory / 1e4);
  }
  return {
    output: { dtype: 'float32', dims: [rows, 1], data: output },
    stateN: { dtype: 'float32', dims: [2, rows, 128], data: stateN },
  };
}

async function detector(): Promise<TestHandler<VoiceActivityDetector>> {
  return await createTestHandler(VoiceActivityDetector, { outputs: model, inputs: INPUTS });
}

/** Bursts of a tone, each `on` seconds long, every `every` seconds. */
function bursts(seconds: number, sampleRate: number, on = 0.5, every = 1.2): Float32Array {
  return Float32Array.from({ length: Math.round(seconds * sampleRate) }, (_, index) => {
    const time = index / sampleRate;
    return time % every > every - on ? 0.4 * Math.sin(2 * Math.PI * 300 * time) : 0;
  });
}

test('a recording whose probabilities are not finite fails alone, and so does a piece of a sequence', async () => {
  const loud = (feeds: Tensors): Tensors => {
    const outputs = model(feeds);
    const { data } = outputs['output'] as { readonly data: Float32Array };
    data.forEach((probability, row) => (data[row] = probability > 0.5 ? NaN : probability));
    return outputs;
  };
  const vad = await createTestHandler(VoiceActivityDetector, { outputs: loud, inputs: INPUTS });
  const failed = expect.objectContaining({ code: 'inference-failed', stage: 'postprocess' });
  const [quiet, speech] = [new Float32Array(16_000), bursts(3, 16_000)].map((samples) => ({
    samples,
    sampleRate: 16_000,
  }));
  const [first, second] = await vad.handle([quiet!, speech!]);
  expect([(first as { segments: unknown }).segments, second]).toEqual([[], failed]);
  await expect(vad.openSequence().predict(speech!)).rejects.toEqual(failed);
});

test('a recording: segments and probabilities', async () => {
  const vad = await detector();
  const samples = bursts(3, 16_000);
  const { segments, probabilities, duration } = await vad.predict({ samples, sampleRate: 16_000 });
  expect(duration).toBe(3);
  expect(probabilities.length).toBe(Math.ceil(48_000 / 512));
  expect(segments.length).toBe(2);
  expect(segments[0]!.start).toBeCloseTo(0.7, 1);
  // The model hears the 64 samples before each window again: none before the first.
  const [, first, second] = vad.runs.map(({ input }) => input!);
  expect(first!.dims).toEqual([1, 576]);
  expect(first!.data.slice(0, 64)).toEqual(new Float32Array(64));
  expect(second!.data.slice(0, 64)).toEqual(samples.slice(448, 512));
});

test('rows of a batch run together, and answer as they do alone', async () => {
  const inputs = [
    { samples: bursts(2, 16_000), sampleRate: 16_000 },
    { samples: new Float32Array(0), sampleRate: 16_000 },
    { samples: bursts(1, 48_000, 0.3, 0.7), sampleRate: 48_000 },
    { samples: new Float32Array(100), sampleRate: 8_000 },
    { samples: Float32Array.of(NaN), sampleRate: 8_000 },
  ];
  const vad = await detector();
  const before = vad.runs.length;
  const together = await vad.handle(inputs);
  expect(vad.runs.length - before).toBe(Math.ceil(32_000 / 512));
  expect(vad.runs[before]!['input']!.dims).toEqual([3, 576]);
  const alone = await Promise.all(inputs.slice(0, 4).map((input) => vad.predict(input)));
  expect(together.slice(0, 4)).toEqual(alone);
  expect(alone[1]).toEqual({ segments: [], probabilities: new Float32Array(0), duration: 0 });
  expect(together[4]).toBeInstanceOf(PredictionError);
});

for (const sampleRate of [8_000, 16_000, 44_100, 48_000])
  test(`a sequence of pieces at ${sampleRate} Hz hears what a recording hears`, async () => {
    const vad = await detector();
    const samples = bursts(3, sampleRate);
    const whole = await vad.predict({ samples, sampleRate });
    const sequence = vad.openSequence();
    const heard: number[] = [];
    const events: { type: string; time: number }[] = [];
    let speaking = false;
    // Pieces as an audio worklet, a recorder or a test gives them: empty ones, and some that complete several windows.
    for (let at = 0, size = 0; at < samples.length; at += size, size = (size * 7 + 128) % 3001) {
      const piece = await sequence.predict({ samples: samples.slice(at, at + size), sampleRate });
      heard.push(...piece.probabilities);
      events.push(...piece.events);
      ({ speaking } = piece);
    }
    // The last window is not complete, and the resampler waits for a few samples more.
    expect(heard.length).toBeGreaterThan(whole.probabilities.length - 3);
    expect(Float32Array.from(heard)).toEqual(whole.probabilities.slice(0, heard.length));
    expect(events.map(({ type }) => type)).toEqual(['start', 'end', 'start', 'end'].slice(0, events.length));
    expect(events.length).toBeGreaterThan(2);
    expect(speaking).toBe(events.at(-1)!.type === 'start');
    expect(events[0]!.time).toBeCloseTo(whole.segments[0]!.start, 3);
  });

test('a piece of a sequence has a limit too: it is refused before it is decoded', async () => {
  const vad = await createTestHandler(VoiceActivityDetector, {
    outputs: model,
    inputs: INPUTS,
    config: { handler: { maxDuration: 2 } },
  });
  const sequence = vad.openSequence();
  const piece = (seconds: number) => ({ samples: new Float32Array(seconds * 8000), sampleRate: 8000 });
  await expect(sequence.predict(piece(3))).rejects.toMatchObject({
    code: 'invalid-input',
    message: expect.stringContaining('3 s long'),
  });
  await sequence.predict(piece(2));
});

test('a piece that fails leaves the sequence as it was', async () => {
  const vad = await detector();
  const samples = bursts(1, 16_000);
  const [sequence, undisturbed] = [vad.openSequence(), vad.openSequence()];
  const piece = (from: number, to: number) => ({ samples: samples.slice(from, to), sampleRate: 16_000 });
  await sequence.predict(piece(0, 5000));
  await undisturbed.predict(piece(0, 5000));
  await expect(sequence.predict({ samples: Float32Array.of(NaN), sampleRate: 16_000 })).rejects.toMatchObject({
    code: 'invalid-input',
  });
  await expect(sequence.predict({ samples, sampleRate: 48_000 })).rejects.toMatchObject({
    code: 'invalid-input',
    message: expect.stringContaining('began with 16000 samples per second'),
  });
  expect(await sequence.predict(piece(5000, 16_000))).toEqual(await undisturbed.predict(piece(5000, 16_000)));
});

test('params change the rules, and wrong ones are named', async () => {
  const vad = await detector();
  const input = { samples: bursts(3, 16_000), sampleRate: 16_000 };
  expect((await vad.predict(input, { params: { threshold: 1 } })).segments).toEqual([]);
  expect((await vad.predict(input, { params: { minSilenceDurationMs: 2000 } })).segments.length).toBe(1);
  await expect(vad.predict(input, { params: { threshold: 2 } })).rejects.toMatchObject({
    code: 'invalid-input',
    message: expect.stringContaining('params.threshold'),
  });
  await expect(vad.predict(input, { params: { sampleRate: 8000 } })).rejects.toMatchObject({ code: 'invalid-input' });
});

test('another model is refused', async () => {
  await expect(createTestHandler(VoiceActivityDetector, { outputs: { scores: [[1]] } })).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('Silero VAD 5 and 6'),
  });
});

test('an aborted request stops between two windows', async () => {
  const controller = new AbortController();
  let runs = 0;
  const vad = await createTestHandler(VoiceActivityDetector, {
    inputs: INPUTS,
    outputs: (feeds) => {
      if (++runs === 10) controller.abort();
      return model(feeds);
    },
  });
  const asked = vad.predict({ samples: bursts(3, 16_000), sampleRate: 16_000 }, { signal: controller.signal });
  await expect(asked).rejects.toMatchObject({ code: 'aborted' });
  expect(runs).toBe(10);
});

test('a long recording is alive: there is a heartbeat for each block that is read, and for each window', async () => {
  const session = {
    inputs: INPUTS,
    outputs: ['output', 'stateN'].map((name) => ({ name, dtype: 'float32', dims: [null] })),
    run: async (feeds: Tensors) => model(feeds),
  };
  const context = createTestContext({ session: session as never });
  let beats = 0;
  const handler = new VoiceActivityDetector();
  await handler.initialize(context);
  await handler.handle([{ samples: new Float32Array(5120), sampleRate: 16_000 }], {
    ...context,
    heartbeat: () => beats++,
  });
  expect(beats).toBe(1 + 10);
});

test('a stream says after each second how far the work is, in windows of 32 ms', async () => {
  const vad = await detector();
  const parts = await vad.stream({ samples: bursts(3, 16_000), sampleRate: 16_000 });
  expect(parts.slice(0, -1)).toEqual([31, 62, 93].map((done) => ({ done, total: 94 })));
});

test('a recording that cannot be read to its end fails alone; the others are heard to theirs', async () => {
  const vad = await detector();
  const samples = bursts(17, 16_000);
  const damaged = samples.slice();
  // In the second block of sound in memory.
  damaged[2 ** 18 + 1] = Infinity;
  const [good, bad] = [samples, damaged].map((one) => ({ samples: one, sampleRate: 16_000 }));
  const [first, failed] = await vad.handle([good!, bad!]);
  expect(failed).toMatchObject({ code: 'invalid-input', stage: 'preprocess' });
  expect(first).toEqual(await vad.predict(good!));
});
