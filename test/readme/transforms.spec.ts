import { expect, test } from '@playwright/test';
import { centerCrop, compileTransforms, compose, resize, toTensor } from 'tabserve/worker';

test('pixels become a tensor, without a handler or a model', async () => {
  const transforms = compileTransforms(compose(resize(256), centerCrop(224), toTensor()));
  const data = new Uint8Array(640 * 480 * 3).fill(255);
  const image = await transforms.run({ format: 'RGB', width: 640, height: 480, stride: 640 * 3, data });

  expect(image.dims).toEqual([3, 224, 224]);
  expect(image.data[0]).toBe(1); // a Float32Array
  // 640 × 480 is scaled to 341 × 256. The crop begins 58 pixels from the left and 16 from the top.
  expect(image.geometry).toEqual({ scaleX: 341 / 640, scaleY: 256 / 480, offsetX: -58, offsetY: -16 });
});
