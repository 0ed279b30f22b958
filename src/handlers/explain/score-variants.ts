import type { Context } from '../../contract/handler.js';
import type { ExplainProgress } from '../../outputs/explanation.js';
import { nextTask } from '../next-task.js';

/** The milliseconds that a batch of variants should take: another request waits for at most one batch. */
const BATCH_MS = 50;

/** The most variants of a batch. */
const MOST_ROWS = 64;

export interface VariantScores {
  /** The number of variants. */
  readonly count: number;
  /** The most variants of a batch, because of their memory. */
  readonly mostRows: number;
  /** Returns the score of each of the next `rows` variants. It is called with the variants in order. */
  score(from: number, rows: number): Promise<ArrayLike<number>>;
}

/**
 * Runs variants of an input in batches of about 50 ms. After each batch, the worker handles what has arrived in the
 * meantime, so other requests are answered between two batches. Sends the progress of row `index`.
 * @throws the reason of `context.signal` if it aborts
 */
export async function scoreVariants(
  { count, mostRows, score }: VariantScores,
  index: number,
  context: Context,
): Promise<Float64Array> {
  const scores = new Float64Array(count);
  const limit = Math.max(1, Math.min(MOST_ROWS, mostRows));
  let rows = 1;
  for (let from = 0; from < count;) {
    context.signal.throwIfAborted();
    context.heartbeat();
    const size = Math.min(rows, count - from);
    const started = context.now();
    scores.set(Array.from(await score(from, size)), from);
    const took = context.now() - started;
    from += size;
    if (took <= BATCH_MS / 2) rows = Math.min(limit, rows * 2);
    else if (took > BATCH_MS * 2) rows = Math.ceil(rows / 2);
    await context.send(index, { done: from, total: count } satisfies ExplainProgress);
    await nextTask();
  }
  return scores;
}
