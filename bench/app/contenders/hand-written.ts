/**
 * What a web developer writes without a library: everything on the page, the canvas scales. Fast, but not the pixels
 * that the model was trained on.
 */
import { CHANNELS, HEIGHT, toAnswer, WIDTH, type Answer } from '../model.ts';
import type { Raw } from './raw.ts';

export interface HandWritten {
  /** A file as the model's tensor. */
  toTensor(file: File): Promise<Float32Array>;
  classify(file: File): Promise<Answer>;
}

export function handWrite(raw: Raw): HandWritten {
  const canvas = new OffscreenCanvas(WIDTH, HEIGHT);
  const context = canvas.getContext('2d', { willReadFrequently: true })!;

  async function toTensor(file: File): Promise<Float32Array> {
    const bitmap = await createImageBitmap(file);
    context.drawImage(bitmap, 0, 0, WIDTH, HEIGHT);
    bitmap.close();
    const { data } = context.getImageData(0, 0, WIDTH, HEIGHT);
    const plane = WIDTH * HEIGHT;
    const pixels = new Float32Array(CHANNELS * plane);
    for (let at = 0; at < plane; at++) {
      pixels[at] = data[4 * at]! / 255;
      pixels[plane + at] = data[4 * at + 1]! / 255;
      pixels[2 * plane + at] = data[4 * at + 2]! / 255;
    }
    return pixels;
  }

  return { toTensor, classify: async (file) => toAnswer(await raw.run(await toTensor(file))) };
}
