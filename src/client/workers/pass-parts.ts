import type { Batch } from '../requests/batch.js';
import type { WorkerConnection } from './slot.js';

/**
 * Returns what takes the parts of a batch's answer; undefined if it is not streamed. A stream that is held back leaves its worker to others.
 * @param onHeldBack called when its reader must read before the worker goes on
 */
export function passParts(
  batch: Batch,
  connection: WorkerConnection,
  onHeldBack: () => void,
): ((part: unknown) => void) | undefined {
  const { id, parts } = batch;
  // Few answers are streamed: for the others, `pending` would make a list in vain.
  const job = parts && batch.pending[0];
  if (!parts || !job) return undefined;
  parts.onRead = () => {
    connection.holdBack(id, parts.isFull);
    connection.tell((worker) => worker.more(id));
  };
  return (part) => {
    if (job.settled) return;
    parts.push(part);
    connection.holdBack(id, parts.isFull);
    if (parts.isFull) onHeldBack();
  };
}
