/** The ways of a large tensor, which stays the caller's, from the page into a worker's WebAssembly memory. */
const WARM_UPS = 20;

export interface LargeOptions {
  readonly bytes: number;
  readonly rounds: number;
}

/** Milliseconds of each round, there and back, without what the worker computes meanwhile. */
export type Large = Readonly<Record<'transferred' | 'cloned' | 'shared' | 'moved', readonly number[]>>;

/** Sends the same tensor each way in turns. */
export async function measureLarge({ bytes, rounds }: LargeOptions): Promise<Large> {
  const worker = new Worker(new URL('./large.worker.ts', import.meta.url), { type: 'module' });
  const send = (tensor: Float32Array, list: Transferable[] = []): Promise<number> =>
    new Promise((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<number>) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message));
      worker.postMessage(tensor, list);
    });
  const tensor = new Float32Array(bytes / 4).fill(1);
  const shared = new Float32Array(new SharedArrayBuffer(bytes));
  let own = tensor.slice();
  const ways: Record<keyof Large, () => Promise<number>> = {
    transferred() {
      const copy = tensor.slice();
      return send(copy, [copy.buffer]);
    },
    cloned: () => send(tensor),
    shared() {
      shared.set(tensor);
      return send(shared);
    },
    moved: () => send(own, [own.buffer]),
  };
  const names = Object.keys(ways) as (keyof Large)[];
  const times: Record<keyof Large, number[]> = { transferred: [], cloned: [], shared: [], moved: [] };
  for (let round = -WARM_UPS; round < rounds; round++)
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(round + WARM_UPS + turn) % names.length]!;
      if (own.length === 0) own = tensor.slice();
      await new Promise((resolve) => void setTimeout(resolve, 1));
      const started = performance.now();
      const computed = await ways[name]();
      if (round >= 0) times[name].push(performance.now() - started - computed);
    }
  worker.terminate();
  return times;
}
