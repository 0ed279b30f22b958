import { expect, test } from '@playwright/test';
import { nms } from '../../../../../src/worker/outputs/boxes/nms.ts';

const box = (at: number, score: number) => ({ xmin: at, ymin: 0, xmax: at + 1, ymax: 1, classIndex: 0, score });

test('of very many boxes, the 30,000 with the highest scores count', () => {
  const boxes = Array.from({ length: 40_000 }, (_, at) => box(2 * at, at / 40_000));
  const kept = nms(boxes, 1);
  expect(kept).toHaveLength(30_000);
  expect([kept[0], kept.at(-1)]).toEqual([boxes[39_999], boxes[10_000]]);
});

test('boxes that do not overlap stay, up to the limit; of those that do, the best one stays', () => {
  expect(nms([box(0, 0.5), box(0.2, 0.9), box(5, 0.7)], 0.5)).toEqual([box(0.2, 0.9), box(5, 0.7)]);
  expect(nms([box(0, 0.5), box(5, 0.7)], 0.5, 1)).toEqual([box(5, 0.7)]);
});

test('a box whose IoU is the threshold stays, as in torchvision', () => {
  // The second box is half of the first one: their IoU is a half, exactly.
  const [whole, half] = [
    { ...box(0, 0.9), xmax: 2 },
    { ...box(0, 0.8), xmax: 1 },
  ];
  expect(nms([whole, half], 0.5)).toEqual([whole, half]);
  expect(nms([whole, half], 0.49)).toEqual([whole]);
});
