import type { Batch } from '../requests/batch.js';
import type { Chunk } from '../requests/chunks.js';
import type { WorkerConnection } from './slot.js';

/**
 * Returns what takes the chunks of a batch's answer; undefined if it is not streamed. While a stream is paused, its
 * worker takes other requests.
 * @param on.onPause called when the worker has to wait until the reader reads a chunk
 * @param on.onProgress called when a chunk has come after which another worker could continue the answer
 */
export function passChunks(
  batch: Batch,
  connection: WorkerConnection,
  { onPause, onProgress }: { readonly onPause: () => void; readonly onProgress: () => void },
): ((chunk: Chunk) => void) | undefined {
  const { id, chunks } = batch;
  // Few answers are streamed, and for the others `pending` would make a useless list.
  const job = chunks && batch.pending[0];
  if (!chunks || !job) return undefined;
  chunks.onRead = () => {
    connection.setPaused(id, chunks.isFull);
    connection.tell((worker) => worker.more(id));
  };
  return (chunk) => {
    if (job.settled) return;
    job.receive(chunk);
    if (chunk.resume !== undefined) onProgress();
    connection.setPaused(id, chunks.isFull);
    if (chunks.isFull) onPause();
  };
}
