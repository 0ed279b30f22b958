// The answers are compared with transformers' in `test/browser/coverage.spec.ts`.
import { expect, test } from '@playwright/test';
import { createTestHandler } from '../../../../../src/worker.ts';
import { DepthEstimator } from '../../../../../src/worker/tasks/segmentation/depth-estimator.ts';
import type { DepthMap } from '../../../../../src/worker/tasks/segmentation/depth.ts';
import { compose, letterbox, resize, toTensor } from '../../../../../src/worker/transforms/index.ts';
import { openTask } from '../../handlers/task-models.ts';

function photo(width: number, height: number) {
  const data = Uint8Array.from({ length: width * height * 3 }, (_, at) => (at * 7) % 256);
  return { data, dims: [height, width, 3] };
}

test('rows of a batch answer as they do alone, each in the size of its photo', async () => {
  const steps = [{ resize: [64, 64] }, 'toTensor'];
  await using model = await openTask(new DepthEstimator(), 'depth-dpt', { imageProcessing: steps });
  const photos = [photo(40, 30), photo(17, 50)];
  const answers = (await model.ask(photos)) as DepthMap[];
  for (const [index, { width, height, depth, min, max }] of answers.entries()) {
    expect([height, width]).toEqual(photos[index]!.dims.slice(0, 2));
    expect([min, max]).toEqual([Math.min(...depth), Math.max(...depth)]);
    const [alone] = (await model.ask([photos[index]!])) as DepthMap[];
    expect(Math.max(...depth.map((value, at) => Math.abs(value - alone!.depth[at]!)))).toBeLessThan(1e-5);
  }
});

class Boxed extends DepthEstimator {
  override imageProcessing = compose(letterbox([4, 4]), toTensor());
}

test('what is around the photo in the tensor is cut off; a map may have an axis of one channel', async () => {
  const outputs = {
    depth: [
      [
        [
          [9, 9, 9, 9],
          [1, 1, 1, 1],
          [1, 1, 1, 1],
          [9, 9, 9, 9],
        ],
      ],
    ],
  };
  const handler = await createTestHandler(Boxed, { outputs });
  const [answer] = (await handler.handle([photo(4, 2)])) as DepthMap[];
  expect(answer).toMatchObject({ width: 4, height: 2, min: 1, max: 1 });
});

test('an output that is no map, and steps that crop', async () => {
  await expect(createTestHandler(DepthEstimator, { outputs: { depth: [[1, 2]] } })).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('needs floats [rows, height, width]'),
  });
  const handler = await createTestHandler(Boxed, {
    outputs: {
      depth: [
        [
          [
            [1, 2],
            [2, 3],
          ],
          [
            [1, 2],
            [2, 3],
          ],
        ],
      ],
    },
  });
  expect(await handler.handle([photo(4, 2)])).toMatchObject([{ code: 'inference-failed' }]);
  await expect(
    openTask(new DepthEstimator(), 'depth-dpt', { imageProcessing: [{ resize: 70 }, { centerCrop: 64 }, 'toTensor'] }),
  ).rejects.toMatchObject({ code: 'model-config', message: expect.stringContaining('centerCrop') });
});

test('the map of a photo of the same size is the model’s', async () => {
  class Same extends DepthEstimator {
    override imageProcessing = compose(resize([2, 3]), toTensor());
  }
  const handler = await createTestHandler(Same, {
    outputs: {
      depth: [
        [
          [1, 2, 3],
          [4, 5, 6],
        ],
      ],
    },
  });
  const [answer] = (await handler.handle([photo(3, 2)])) as DepthMap[];
  expect([...answer!.depth]).toEqual([1, 2, 3, 4, 5, 6]);
});
