// The answers are compared with Python's in `test/browser/coverage.spec.ts`.
import { expect, test } from '@playwright/test';
import { createTestHandler } from '../../../../../src/worker.ts';
import { BackgroundRemover } from '../../../../../src/worker/tasks/segmentation/background-remover.ts';
import { kindByOperator } from '../../../../../src/worker/outputs/activation.ts';
import { cutOut } from '../../../../../src/worker/tasks/segmentation/foreground.ts';
import type { Picture } from '../../../../../src/worker/outputs/picture.ts';
import { compose, resize, toTensor } from '../../../../../src/worker/transforms/index.ts';
import { openTask } from '../../handlers/task-models.ts';

class Small extends BackgroundRemover {
  override imageProcessing = compose(resize([2, 2]), toTensor());
}

function photo(width: number, height: number, color: readonly number[] = [10, 20, 30]) {
  return { data: Uint8Array.from({ length: width * height * 3 }, (_, at) => color[at % 3]!), dims: [height, width, 3] };
}

test('rows of a batch answer as they do alone; a tensor has no pixels, and fails alone', async () => {
  const steps = [{ resize: [64, 64] }, 'toTensor'];
  await using model = await openTask(new BackgroundRemover(), 'background-modnet', { imageProcessing: steps });
  const [first, second] = [photo(40, 30), photo(17, 50, [200, 0, 90])];
  const tensor = { data: new Float32Array(3 * 64 * 64), dims: [3, 64, 64] };
  const answers = (await model.ask([first, tensor, second])) as Picture[];
  expect(answers[1]).toMatchObject({ code: 'invalid-input', message: expect.stringContaining('Pass an image') });
  expect(answers[0]).toEqual((await model.ask([first]))[0]);
  expect(answers[2]).toEqual((await model.ask([second]))[0]);
  expect(answers[2]).toMatchObject({ width: 17, height: 50 });
});

test('numbers beyond 0..1 are logits, unless the config or the graph says what they are', async () => {
  const logits = await createTestHandler(Small, {
    outputs: {
      alpha: [
        [
          [
            [0, 100],
            [-100, 0],
          ],
        ],
      ],
    },
  });
  const [picture] = (await logits.handle([photo(2, 2)])) as Picture[];
  expect([3, 7, 11, 15].map((at) => picture!.data[at])).toEqual([128, 255, 0, 128]);
  const alpha = await createTestHandler(Small, {
    outputs: {
      alpha: [
        [
          [0, 1],
          [0.2, 1],
        ],
      ],
    },
  });
  const [same] = (await alpha.handle([photo(2, 2)])) as Picture[];
  expect([3, 7, 11, 15].map((at) => same!.data[at])).toEqual([0, 255, 51, 255]);
  const given = {
    outputs: {
      alpha: [
        [
          [0, 100],
          [0.2, 1],
        ],
      ],
    },
    config: { handler: { output: 'probabilities' } },
  };
  const wrong = await createTestHandler(Small, given);
  expect(await wrong.handle([photo(2, 2)])).toMatchObject([{ code: 'inference-failed' }]);
  const info = { name: 'alpha', dtype: 'float32', dims: [] } as const;
  expect(['Sigmoid', 'Conv', 'Resize'].map((op) => kindByOperator({ ...info, op }))).toEqual([
    'probabilities',
    'logits',
    undefined,
  ]);
});

test('an output of several channels', async () => {
  const outputs = {
    alpha: [
      [
        [
          [0, 1],
          [0, 1],
        ],
        [
          [0, 1],
          [0, 1],
        ],
      ],
    ],
  };
  await expect(createTestHandler(Small, { outputs })).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('a map of one channel, but the output has 2'),
  });
});

test('a mixed edge gets the color of the foreground, and what is opaque keeps its own', async () => {
  // A red shape on blue; the pixels of one column are half of each.
  const width = 200;
  const size = { width, height: 4 };
  const mix = (x: number): number => (x < 100 ? 1 : x === 100 ? 0.5 : 0);
  const alpha = Float32Array.from({ length: width * 4 }, (_, at) => mix(at % width));
  const pixels = new Uint8ClampedArray(width * 4 * 4);
  for (const [at, weight] of alpha.entries()) pixels.set([240 * weight, 0, 240 * (1 - weight), 255], at * 4);
  await cutOut(pixels, alpha, size, () => {});
  expect([...pixels.subarray(50 * 4, 51 * 4)]).toEqual([240, 0, 0, 255]);
  const [red, green, blue, opacity] = pixels.subarray(100 * 4, 101 * 4);
  expect([green, opacity]).toEqual([0, 128]);
  expect(red).toBeGreaterThan(235);
  expect(blue).toBeLessThan(5);
  expect(pixels[150 * 4 + 3]).toBe(0);
});

test('a large photo sends heartbeats, and an abort ends its work', async () => {
  const size = { width: 1000, height: 1000 };
  const pixels = new Uint8ClampedArray(4_000_000);
  const alpha = new Float32Array(1_000_000).fill(0.5);
  let pauses = 0;
  await cutOut(pixels, alpha, size, () => void pauses++);
  // Two passes for each of three channels, in bands of 200 rows.
  expect(pauses).toBe(2 * 3 * 5);
  await expect(
    cutOut(pixels, alpha, size, () => {
      if (--pauses === 0) throw new Error('aborted');
    }),
  ).rejects.toThrow('aborted');
  expect(pauses).toBe(0);
});

test('the batch ends with the abort, and not with a failed row', async () => {
  const steps = [{ resize: [64, 64] }, 'toTensor'];
  await using model = await openTask(new BackgroundRemover(), 'background-modnet', { imageProcessing: steps });
  const aborter = new AbortController();
  const asked = model.ask([photo(900, 900)], {}, { signal: aborter.signal, heartbeat: () => aborter.abort() });
  await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
});
