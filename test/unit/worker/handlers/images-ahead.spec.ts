/** The images of a batch, decoded side by side. */
import { expect, test } from '@playwright/test';
import type { DecodedImage } from '../../../../src/contract/images.js';
import { ImagesAhead } from '../../../../src/worker/handlers/image-input.js';

/** Images whose decoding ends when the test says so. */
function world(pixels: number) {
  const decoders: { resolve(image: DecodedImage): void; reject(error: Error): void }[] = [];
  const closed: number[] = [];
  const decode = (index: number): Promise<DecodedImage> =>
    new Promise((resolve, reject) => {
      decoders[index] = { resolve, reject };
    });
  const finish = (index: number): void =>
    decoders[index]!.resolve({
      width: pixels,
      height: 1,
      read: () => Promise.reject(new Error('not read here')),
      close: () => closed.push(index),
    });
  return { decoders, closed, decode, finish };
}

test('four images are decoded at a time, in order', async () => {
  const { decoders, decode, finish } = world(100);
  const images = new ImagesAhead(7, decode);
  const started = [];
  for (let index = 0; index < 7; index++) {
    const image = images.take(index)!;
    started.push(decoders.length);
    finish(index);
    await image;
  }
  expect(started).toEqual([4, 5, 6, 7, 7, 7, 7]);
});

test('large images that wait for their turn hold back the next ones', async () => {
  const { decoders, decode, finish } = world(2 ** 25);
  const images = new ImagesAhead(6, decode);
  const first = images.take(0)!;
  expect(decoders).toHaveLength(4);
  for (let index = 0; index < 4; index++) finish(index);
  await first;
  void images.take(1);
  await Promise.resolve();
  expect(decoders).toHaveLength(4);
  void images.take(2);
  await Promise.resolve();
  void images.take(3);
  expect(decoders).toHaveLength(6);
});

test('a failure belongs to its row, and rows without an image need no decoding', async () => {
  const { decoders, decode, finish } = world(1);
  const images = new ImagesAhead(3, (index) => (index === 1 ? undefined : decode(index)));
  const first = images.take(0)!;
  decoders[2]!.reject(new Error('damaged'));
  finish(0);
  await first;
  expect(images.take(1)).toBeUndefined();
  await expect(images.take(2)).rejects.toThrow('damaged');
});

test('images that nobody takes are closed, also those that are decoded later', async () => {
  const { closed, decode, finish } = world(1);
  const images = new ImagesAhead(8, decode);
  const taken = images.take(0)!;
  finish(0);
  finish(1);
  await taken;
  images.close();
  finish(2);
  finish(3);
  await Promise.resolve();
  await Promise.resolve();
  expect(closed.sort()).toEqual([1, 2, 3]);
});
