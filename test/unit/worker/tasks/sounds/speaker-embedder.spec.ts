// The vectors are compared with Python's in `test/browser/coverage.spec.ts`.
import { expect, test } from '@playwright/test';
import { soundOf } from '../../../../models/tasks/sound.ts';
import type { Params } from '../../../../../src/contract/handler.ts';
import { createTestHandler } from '../../../../../src/worker.ts';
import { nearestHandler } from '../../../../../src/worker/host/nearest-handler.ts';
import { SpeakerEmbedder } from '../../../../../src/worker/tasks/sounds/speaker-embedder.ts';
import { openTask } from '../../handlers/task-models.ts';

const sound = (length: number) => ({ samples: soundOf(length), sampleRate: 16_000 });

for (const repository of ['speaker-wespeaker', 'speaker-wav2-vec2'])
  test(`${repository}: rows of a batch have the vectors that each has alone, and bad ones fail alone`, async () => {
    await using model = await openTask(new SpeakerEmbedder(), repository);
    const inputs = [sound(24_000), sound(1679), sound(9_600)];
    const together = await model.ask(inputs);
    expect(together[1]).toMatchObject({ code: 'invalid-input', message: expect.stringMatching(/needs at least/) });
    expect(together[0]).toEqual((await model.ask([inputs[0]]))[0]);
    expect(together[2]).toEqual((await model.ask([inputs[2]]))[0]);
  });

test('the fewest samples are those with which a model returns numbers', async () => {
  // Nine frames for WeSpeaker; for an x-vector 16 frames of 320 samples, the first of which has 400.
  for (const [repository, least] of [
    ['speaker-wespeaker', 400 + 8 * 160],
    ['speaker-wav2-vec2', 400 + 15 * 320],
  ] as const) {
    await using model = await openTask(new SpeakerEmbedder(), repository);
    const [short, enough] = await model.ask([sound(least - 1), sound(least)]);
    expect(short).toMatchObject({ code: 'invalid-input' });
    expect(enough).toBeInstanceOf(Float32Array);
  }
});

/** Asks a model of filter banks, and returns what it was given: the mean of its features' magnitudes. */
async function given(name: string, config: Params): Promise<number> {
  let mean = 0;
  const handler = await createTestHandler(SpeakerEmbedder, {
    inputs: [{ name, dtype: 'float32', dims: [null, null, 80] }],
    outputs: (feeds) => {
      const data = feeds[name]!.data as Float32Array;
      mean = data.reduce((sum, value) => sum + Math.abs(value), 0) / data.length;
      return { out: [[3, 4]] };
    },
    config: { handler: config },
  });
  expect(await handler.handle([sound(8_000)])).toEqual([Float32Array.of(Math.fround(0.6), Math.fround(0.8))]);
  return mean;
}

test("the toolkit is known by the input's name, and chosen by the key features", async () => {
  const [we, three] = [await given('feats', {}), await given('feature', {})];
  expect(we).not.toBeCloseTo(three, 3);
  expect(await given('x', {})).toBe(three);
  expect(await given('feats', { features: '3d-speaker' })).toBe(three);
  expect(await given('feature', { features: 'wespeaker' })).toBe(we);
});

test('a model whose output has a vector for each frame is refused', async () => {
  const opening = createTestHandler(SpeakerEmbedder, { outputs: { hidden: [[[1], [2]]] } });
  await expect(opening).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringMatching(/"hidden" has 3 dims/),
  });
});

test('bare files are recognized', () => {
  for (const [input, dims, output] of [
    ['feats', ['B', 'T', 80], 'embs'],
    ['feature', [null, null, 80], 'embedding'],
    ['input_values', [null, null], 'embeddings'],
  ] as const)
    expect(
      nearestHandler(
        [{ name: input, dtype: 'float32', dims: dims as never }],
        [
          { name: 'logits', dtype: 'float32', dims: [null, 16] },
          { name: output, dtype: 'float32', dims: [null, 16] },
        ],
      ).handler,
    ).toBe('speaker_embedder');
});
