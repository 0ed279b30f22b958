import { loadScript } from '../../../shared/load-script.js';

/**
 * What a graph without its weights calls the file that it was read from. No other file can have this name: a model's
 * may not contain a colon.
 */
export const OWN_FILE = 'tabserve:model';

/** Smaller models are read as a whole: their memory does not matter. */
const MIN_FILE_BYTES = 2 ** 24;

/**
 * Reads an ONNX model without its large weights, which become external data in the file itself, `OWN_FILE`. It reads
 * hardly more than it returns.
 * @returns undefined if the file is small, damaged, or no model
 * @throws `worker-failed` if the script that reads it does not load
 */
export async function readGraph(file: Blob): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (file.size < MIN_FILE_BYTES) return undefined;
  const { withoutWeights } = await loadScript(() => import('./without-weights.js'));
  return await withoutWeights(file);
}
