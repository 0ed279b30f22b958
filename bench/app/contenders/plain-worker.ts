/** No contender: the least that a worker costs. The raw run there, by one plain message, and its answer in another. */
import { MODEL, toAnswer, type Answer } from '../model.ts';

export async function openPlainWorker(): Promise<(pixels: Float32Array) => Promise<Answer>> {
  const worker = new Worker(new URL('./plain.worker.ts', import.meta.url), { type: 'module', name: MODEL });
  const answer = <T>(): Promise<T> =>
    new Promise((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<T>) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message));
    });
  await answer<'ready'>();
  return async (pixels) => {
    worker.postMessage(pixels);
    return toAnswer(await answer<Float32Array>());
  };
}
