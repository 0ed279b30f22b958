import { backends } from './backends.ts';

/** Starts the handler's worker. `connect` and `useModel` type inputs and answers by the handler's class. */
export const makeWorker = () => new Worker(new URL('./digit-reader.worker.ts', import.meta.url), { type: 'module' });

export const options = { model: '/models/digits/', ...backends };

/** Pictures to begin with. */
export const SAMPLES = ['drawn-3', 'drawn-7', 'paper-2'].map((name) => `/models/digits/samples/${name}.png`);

export async function readSample(url: string): Promise<Blob> {
  return await (await fetch(url)).blob();
}

/** Returns the answer to a batch as JSON. A row that has failed is an error in its place, as with TorchServe. */
export function asJson(rows: readonly unknown[]): string {
  return JSON.stringify(
    rows.map((row) => (row instanceof Error ? { error: row.message } : row)),
    null,
    2,
  );
}
