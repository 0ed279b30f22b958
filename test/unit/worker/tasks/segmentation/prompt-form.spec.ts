// The masks are compared with the original code's in `test/browser/coverage.spec.ts`; here, what the decoders are fed.
import { expect, test } from '@playwright/test';
import type { OutputInfo, Session, Tensor, TensorInfo } from '../../../../../src/contract/tensors.ts';
import { findForm, joinObjects } from '../../../../../src/worker/tasks/segmentation/prompt-form.ts';

const info = (name: string, dims: TensorInfo['dims'], dtype: TensorInfo['dtype'] = 'float32'): TensorInfo => ({
  name,
  dims,
  dtype,
});

/** What `export_onnx_model.py` of Segment Anything writes, for a mask of 8 × 4. */
const SCRIPT = {
  inputs: [
    info('image_embeddings', [1, 16, 2, 1]),
    info('point_coords', [1, 'num_points', 2]),
    info('point_labels', [1, 'num_points']),
    info('mask_input', [1, 1, 8, 4]),
    info('has_mask_input', [1]),
    info('orig_im_size', [2]),
  ],
  outputs: ['masks', 'iou_predictions', 'low_res_masks'],
};

/** What `export_to_onnx.py` of EfficientSAM writes. */
const EFFICIENT = {
  inputs: [
    info('image_embeddings', ['batch', 16, 2, 2]),
    info('batched_point_coords', [1, 1, 'num_points', 2]),
    info('batched_point_labels', [1, 1, 'num_points']),
    info('orig_im_size', [2], 'int64'),
  ],
  outputs: ['output_masks', 'iou_predictions', 'low_res_masks'],
};

const PLACEMENT = {
  width: 30,
  height: 20,
  tensorWidth: 60,
  tensorHeight: 40,
  geometry: { scaleX: 2, scaleY: 2, offsetX: 0, offsetY: 0 },
};

function formOf({ inputs, outputs }: typeof SCRIPT) {
  const named = outputs.map((name): OutputInfo => ({ name, dtype: 'float32', dims: [] }));
  return findForm({ inputs, outputs: named } as unknown as Session, ['image_embeddings']);
}

/** Returns dims and numbers of some inputs of each run. */
function fed(of: typeof SCRIPT, prompts: Parameters<ReturnType<typeof formOf>['feeds']>[0], names: readonly string[]) {
  return formOf(of)
    .feeds(prompts, PLACEMENT)
    .map((feeds) => names.map((name) => [feeds[name]!.dims, Array.from(feeds[name]!.data, Number)]));
}

test('the export script of Segment Anything: points without a box get a point of nothing', () => {
  const points = { points: [[3, 4]], labels: [0], boxes: [] } as const;
  expect(fed(SCRIPT, points, ['point_coords', 'point_labels', 'mask_input', 'has_mask_input', 'orig_im_size'])).toEqual(
    [
      [
        [
          [1, 2, 2],
          [3, 4, 0, 0],
        ],
        [
          [1, 2],
          [0, -1],
        ],
        [[1, 1, 8, 4], Array.from({ length: 32 }, () => 0)],
        [[1], [0]],
        // The size in which the graph draws the masks that are not read.
        [[2], [8, 4]],
      ],
    ],
  );
});

for (const [name, of, lead, coords, labels] of [
  ['the export script of Segment Anything', SCRIPT, [1], 'point_coords', 'point_labels'],
  ['EfficientSAM', EFFICIENT, [1, 1], 'batched_point_coords', 'batched_point_labels'],
] as const)
  test(`${name}: each box is a run of its own, its corners after the points`, () => {
    const asked = [coords, labels];
    const boxes = [
      [1, 2, 5, 6],
      [0, 0, 9, 8],
    ] as const;
    expect(fed(of as never, { points: [], labels: [], boxes }, asked)).toEqual(
      boxes.map((box) => [
        [[...lead, 2, 2], [...box]],
        [
          [...lead, 2],
          [2, 3],
        ],
      ]),
    );
    expect(fed(of as never, { points: [[3, 4]], labels: [1], boxes: [boxes[0]] }, asked)).toEqual([
      [
        [
          [...lead, 3, 2],
          [3, 4, 1, 2, 5, 6],
        ],
        [
          [...lead, 3],
          [1, 2, 3],
        ],
      ],
    ]);
  });

test('EfficientSAM gets the size of the tensor, and refuses what it would ignore', () => {
  const point = [1, 1] as const;
  const all = (count: number) => Array.from({ length: count }, () => point);
  const inside = (count: number) => Array.from({ length: count }, () => 1 as const);
  expect(fed(EFFICIENT, { points: all(6), labels: inside(6), boxes: [] }, ['orig_im_size'])).toEqual([
    [[[2], [40, 60]]],
  ]);
  const { feeds } = formOf(EFFICIENT);
  const refused = (message: string) =>
    expect.objectContaining({ code: 'invalid-input', message: expect.stringContaining(message) }) as unknown as Error;
  expect(() => feeds({ points: all(7), labels: inside(7), boxes: [] }, PLACEMENT)).toThrow(refused('got 7. Pass'));
  expect(() => feeds({ points: all(5), labels: inside(5), boxes: [[0, 0, 1, 1]] }, PLACEMENT)).toThrow(
    refused('got 7 with those of the box'),
  );
  expect(() => feeds({ points: [point], labels: [0], boxes: [] }, PLACEMENT)).toThrow(refused('no label 0'));
});

const tensor = (dims: readonly number[], first = 0): Tensor => {
  const count = dims.reduce((product, size) => product * size, 1);
  return { dtype: 'float32', dims, data: Float32Array.from({ length: count }, (_, at) => first + at) };
};

test('of four masks of the export script, the first is left out; one that was exported as the best is answered', () => {
  const { read } = formOf(SCRIPT);
  const [masks, scores] = read(tensor([1, 4, 1, 2]), tensor([1, 4]));
  expect([masks.dims, [...masks.data], scores.dims, [...scores.data]]).toEqual([
    [1, 1, 3, 1, 2],
    [2, 3, 4, 5, 6, 7],
    [1, 1, 3],
    [1, 2, 3],
  ]);
  const [single, fit] = read(tensor([1, 1, 1, 2]), tensor([1, 1]));
  expect([single.dims, [...single.data], [...fit.data]]).toEqual([[1, 1, 1, 1, 2], [0, 1], [0]]);
});

test('the objects of several runs are joined in their order', () => {
  const [masks, scores] = joinObjects([
    [tensor([1, 1, 2, 1, 1]), tensor([1, 1, 2])],
    [tensor([1, 1, 2, 1, 1], 5), tensor([1, 1, 2], 7)],
  ]);
  expect([masks.dims, [...masks.data]]).toEqual([
    [1, 2, 2, 1, 1],
    [0, 1, 5, 6],
  ]);
  expect([scores.dims, [...scores.data]]).toEqual([
    [1, 2, 2],
    [0, 1, 7, 8],
  ]);
});

test('a decoder that lacks an input or an output, or has one that nothing fills, is refused', () => {
  const without = (name: string) => SCRIPT.inputs.filter((input) => input.name !== name);
  const refused = (message: string) =>
    expect.objectContaining({ code: 'model-config', message: expect.stringContaining(message) }) as unknown as Error;
  expect(() => formOf({ ...SCRIPT, inputs: without('has_mask_input') })).toThrow(
    refused('"has_mask_input" is missing'),
  );
  expect(() => formOf({ ...SCRIPT, outputs: ['masks', 'iou_predictions'] })).toThrow(
    refused('"low_res_masks" is missing'),
  );
  expect(() => formOf({ ...EFFICIENT, inputs: [...EFFICIENT.inputs, info('high_res', [1])] })).toThrow(
    refused('nothing fills its input "high_res"'),
  );
});
