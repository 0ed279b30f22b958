/**
 * Answers each frame with memory of the size of its mask, without looking at it, after as much time as a model takes:
 * the page's code is then no longer in the core's caches.
 */
import { HEIGHT, WIDTH } from './frame.ts';

const MODEL_MS = 25;

const scope = globalThis as unknown as Worker;
const weights = new Float32Array(2 ** 20);
scope.onmessage = ({ data: frame }: MessageEvent<VideoFrame>) => {
  const started = performance.now();
  while (performance.now() - started < MODEL_MS) weights.forEach((weight, at) => (weights[at] = weight + 1));
  frame.close();
  const mask = new Float32Array(WIDTH * HEIGHT).fill(1);
  scope.postMessage({ data: mask }, [mask.buffer]);
};
scope.postMessage('ready');
