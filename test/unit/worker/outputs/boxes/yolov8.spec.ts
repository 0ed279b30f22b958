import { expect, test } from '@playwright/test';
import type { ModelFacts } from '../../../../../src/worker/outputs/boxes/decoder.ts';
import { yolov8 } from '../../../../../src/worker/outputs/boxes/yolov8.ts';

test('where the axis of the classes could be either one, it is the first, as in Ultralytics’ exports', async () => {
  const output = { name: 'output0', dtype: 'float32', dims: [1, 6, 6] } as const;
  const facts = { output, outputs: [output], labels: undefined, size: undefined, warn: () => {} };
  const decoder = await yolov8.create({}, facts as unknown as ModelFacts);
  // Column by column: 100 + box for the centers' x, 200 for y, 20 wide, 10 high, and the scores of two classes.
  const columns = [100, 200, 20, 10, 0.25, 0.75];
  const data = Float32Array.from({ length: 36 }, (_, at) => columns[Math.floor(at / 6)]! + (at < 12 ? at % 6 : 0));
  const { scores, classes, box } = decoder.decode([{ data, dims: [6, 6] }], { width: 640, height: 640 });
  expect([...scores]).toEqual(Array<number>(6).fill(0.75));
  expect([...classes]).toEqual(Array<number>(6).fill(1));
  expect(box(2)).toEqual({ xmin: 92, ymin: 197, xmax: 112, ymax: 207 });
});
