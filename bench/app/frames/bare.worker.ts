/** Answers each frame with memory of the size of its mask, without looking at it. */
import { HEIGHT, WIDTH } from './frame.ts';

const scope = globalThis as unknown as Worker;
scope.onmessage = ({ data: frame }: MessageEvent<VideoFrame>) => {
  frame.close();
  const mask = new Float32Array(WIDTH * HEIGHT).fill(1);
  scope.postMessage({ data: mask }, [mask.buffer]);
};
scope.postMessage('ready');
