/**
 * What a web developer writes without a library: in a worker, a canvas scales the frame to the model's input, and the
 * mask to the frame. Not the pixels that the model was trained on.
 */

import { HEIGHT, WIDTH } from './frame.ts';

/** The side of the model's input and map. */
export const SIDE = 256;

/** Serves frames: each message is one, and is answered with its mask, the alpha of each pixel in 8 bits. */
export function serveMasks(run: (pixels: ImageData) => Promise<Float32Array>): void {
  const scope = globalThis as unknown as Worker;
  const small = new OffscreenCanvas(SIDE, SIDE).getContext('2d', { willReadFrequently: true })!;
  const large = new OffscreenCanvas(WIDTH, HEIGHT).getContext('2d', { willReadFrequently: true })!;
  scope.onmessage = async ({ data: frame }: MessageEvent<VideoFrame>) => {
    small.drawImage(frame, 0, 0, SIDE, SIDE);
    frame.close();
    const map = await run(small.getImageData(0, 0, SIDE, SIDE));
    const alpha = new ImageData(SIDE, SIDE);
    for (let at = 0; at < map.length; at++) alpha.data[4 * at + 3] = 255 * map[at]!;
    small.putImageData(alpha, 0, 0);
    large.clearRect(0, 0, WIDTH, HEIGHT);
    large.drawImage(small.canvas, 0, 0, WIDTH, HEIGHT);
    const mask = large.getImageData(0, 0, WIDTH, HEIGHT);
    scope.postMessage(mask, [mask.data.buffer]);
  };
  scope.postMessage('ready');
}
