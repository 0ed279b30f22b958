// The answers are compared with transformers' in `test/browser/coverage.spec.ts`.
import { expect, test } from '@playwright/test';
import { createTestHandler } from '../../../../../src/worker.ts';
import { ImageToImage } from '../../../../../src/worker/tasks/pictures/image-to-image.ts';
import type { Picture } from '../../../../../src/worker/outputs/picture.ts';
import { compose, mirror, toTensor } from '../../../../../src/worker/transforms/index.ts';

class Mirrored extends ImageToImage {
  override imageProcessing = compose(mirror({ multipleOf: 4 }), toTensor());
}

test('what mirror has continued the image with is cut off from the result', async () => {
  const rows = Array.from({ length: 8 }, (_, y) => Array.from({ length: 8 }, (__, x) => (x < 6 && y < 4 ? 1 : 0)));
  const handler = await createTestHandler(Mirrored, { outputs: { pixels: [[rows]] } });
  const photo = { data: new Uint8Array(3 * 2 * 3), dims: [2, 3, 3] };
  const [picture] = (await handler.handle([photo])) as Picture[];
  expect(picture).toMatchObject({ width: 6, height: 4 });
  expect([...picture!.data]).toEqual(Array.from({ length: 6 * 4 * 4 }, () => 255));
});
