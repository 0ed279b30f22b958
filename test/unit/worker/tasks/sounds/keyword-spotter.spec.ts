// The scores are compared with openWakeWord's in `test/browser/coverage.spec.ts`.
import { expect, test } from '@playwright/test';
import { follow, DETECTION_START } from '../../../../../src/worker/tasks/sounds/detections.ts';
import { KeywordSpotter } from '../../../../../src/worker/tasks/sounds/keyword-spotter.ts';
import { createTestHandler } from '../../../../../src/worker/host/testing.ts';
import type { TensorInfo, Tensors } from '../../../../../src/contract/tensors.ts';

const tensor = (dims: readonly number[], data: Iterable<number>) => ({
  dtype: 'float32' as const,
  dims,
  data: Float32Array.from(data),
});
const input = (name: string, dims: TensorInfo['dims']): TensorInfo[] => [{ name, dtype: 'float32', dims }];

/** A frame for each 160 samples, of two mels: the mean loudness of 640 samples, in thousands, and its tenth. */
function spectrogram({ input: samples }: Tensors): Tensors {
  const { data } = samples! as { readonly data: Float32Array };
  const frames = Math.max(1, Math.floor(data.length / 160) - 3);
  const loudness = Array.from({ length: frames }, (_, frame) => {
    const own = data.subarray(frame * 160, frame * 160 + 640);
    return own.reduce((sum, value) => sum + Math.abs(value), 0) / 640_000;
  });
  return {
    output: tensor(
      [1, 1, frames, 2],
      loudness.flatMap((value) => [value, value / 10]),
    ),
  };
}

const mean = (data: ArrayLike<number>): number => Array.from(data).reduce((sum, value) => sum + value, 0) / data.length;

const NODES = {
  melspectrogram: { inputs: input('input', [null, null]), outputs: spectrogram },
  embedding: {
    inputs: input('input_1', [null, 4, 2, 1]),
    outputs: ({ input_1: window }: Tensors): Tensors => ({
      embedding: tensor(
        [1, 1, 1, 3],
        [0, 1, 2].map((at) => mean(window!.data as Float32Array) - 2 + at / 100),
      ),
    }),
  },
};

async function spotter(
  nodes: object = NODES,
  inputs = input('x', [1, 2, 3]),
  score = (loud: number) => Math.min(1, Math.max(0, loud)),
) {
  return await createTestHandler(KeywordSpotter, {
    inputs,
    outputs: ({ x }: Tensors): Tensors => ({ score: tensor([1, 1], [score(mean(x!.data as Float32Array))]) }),
    nodes: nodes as typeof NODES,
  });
}

/** Bursts of a tone, half a second each. */
function bursts(seconds: number, sampleRate: number): Float32Array {
  return Float32Array.from({ length: seconds * sampleRate }, (_, index) => {
    const time = index / sampleRate;
    return time % 1.5 > 1 ? 0.9 * Math.sin(2 * Math.PI * 300 * time) : 0;
  });
}

for (const sampleRate of [8_000, 16_000, 48_000])
  test(`a sequence of pieces at ${sampleRate} Hz hears what a recording hears`, async () => {
    const model = await spotter();
    const samples = bursts(4, sampleRate);
    const whole = await model.predict({ samples, sampleRate });
    expect(whole.detections.length).toBeGreaterThan(1);
    expect(Math.max(...whole.scores['model']!)).toBeGreaterThan(0.5);
    // A recording has a second of silence before it and after it.
    const silence = new Float32Array(sampleRate);
    const live = Float32Array.from([...silence, ...samples, ...silence]);
    const sequence = model.openSequence();
    const scores: number[] = [];
    const times: number[] = [];
    for (let from = 0, size = 1; from < live.length; from += size, size = (size * 7 + 1) % 9_000) {
      const found = await sequence.predict({ samples: live.slice(from, from + size), sampleRate });
      scores.push(...found.scores['model']!);
      times.push(...found.detections.map(({ time }) => time));
    }
    expect(scores.slice(0, whole.scores['model']!.length)).toEqual([...whole.scores['model']!]);
    expect(times).toEqual(whole.detections.map(({ time }): unknown => expect.closeTo(time + 1, 9)));
  });

test('rows of a batch answer as they do alone, and what is no sound fails alone', async () => {
  const model = await spotter();
  const inputs = [
    { samples: bursts(4, 16_000), sampleRate: 16_000 },
    { samples: new Float32Array(0), sampleRate: 16_000 },
    { samples: Float32Array.of(NaN), sampleRate: 16_000 },
    'text',
  ];
  const [loud, empty, ...failed] = await model.handle(inputs as never);
  expect(loud).toEqual(await model.predict(inputs[0] as never));
  expect(empty).toMatchObject({ detections: [] });
  expect(failed).toMatchObject([{ code: 'invalid-input' }, { code: 'invalid-input' }]);
});

test('a piece of another sample rate is refused, and the sequence stays as it was', async () => {
  const sequence = (await spotter()).openSequence();
  await sequence.predict({ samples: new Float32Array(2_000), sampleRate: 16_000 });
  await expect(sequence.predict({ samples: new Float32Array(2_000), sampleRate: 8_000 })).rejects.toMatchObject({
    code: 'invalid-input',
    message: expect.stringContaining('began with 16000 samples per second'),
  });
  const { scores } = await sequence.predict({ samples: new Float32Array(600), sampleRate: 16_000 });
  expect(scores['model']!.length).toBe(1);
});

test('params are checked, and a score that is no number fails', async () => {
  const model = await spotter();
  const quiet = { samples: new Float32Array(2_000), sampleRate: 16_000 };
  for (const params of [{ threshold: 2 }, { patience: 0 }, { patience: 1.5 }, { debounceTime: -1 }])
    await expect(model.predict(quiet, { params })).rejects.toMatchObject({ code: 'invalid-input' });
  const broken = await spotter(NODES, undefined, () => NaN);
  await expect(broken.predict(quiet)).rejects.toMatchObject({ code: 'inference-failed' });
});

test('other models are refused', async () => {
  const wrong = (message: string) => ({ code: 'model-config', message: expect.stringContaining(message) });
  const samples = { ...NODES, melspectrogram: { ...NODES.melspectrogram, inputs: input('input', [null, 1, null]) } };
  await expect(spotter(samples)).rejects.toMatchObject(wrong('The inputs of melspectrogram are "input"'));
  await expect(spotter(NODES, input('x', [null, null]))).rejects.toMatchObject(wrong('a head [rows, 16, 96]'));
  const narrow = await spotter(NODES, input('x', [1, 2, 4]));
  await expect(narrow.predict({ samples: new Float32Array(2_000), sampleRate: 16_000 })).rejects.toMatchObject(
    wrong('must have 4 numbers'),
  );
  await expect(spotter({ melspectrogram: NODES.melspectrogram })).rejects.toMatchObject(wrong('nodes.embedding'));
});

test('the scores are those of outputName, as many as the model declares', async () => {
  let scores = [0.75];
  const model = await createTestHandler(KeywordSpotter, {
    inputs: input('x', [1, 2, 3]),
    outputs: () => ({ other: tensor([1, 1], [0.25]), score: tensor([1, scores.length], scores) }),
    nodes: NODES,
    config: { handler: { outputName: 'score' } },
  });
  const quiet = { samples: new Float32Array(16_000), sampleRate: 16_000 };
  expect((await model.predict(quiet)).scores['model']!.at(-1)).toBe(0.75);
  scores = [0.75, 0.5];
  await expect(model.predict(quiet)).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('must have 1 numbers, as it declares'),
  });
});

test('patience counts steps in a row, debounce those after a detection', () => {
  const heard = (scores: readonly number[], patience: number, debounce: number): readonly number[] => {
    let progress = DETECTION_START;
    return scores.flatMap((score, step) => {
      const next = follow(progress, score, { threshold: 0.5, patience, debounce });
      progress = next.progress;
      return next.isDetected ? [step] : [];
    });
  };
  const scores = [0, 0.5, 0.6, 0.4, 0.9, 0.9, 0.9, 0];
  expect(heard(scores, 1, 0)).toEqual([1, 2, 4, 5, 6]);
  expect(heard(scores, 2, 0)).toEqual([2, 5, 6]);
  expect(heard(scores, 1, 2)).toEqual([1, 4]);
  expect(heard(scores, 3, 0)).toEqual([6]);
});
