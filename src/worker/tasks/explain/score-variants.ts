import { nextTask } from '../../../shared/next-task.js';
import type { Context } from '../../../contract/handler.js';
import type { ExplainProgress, ImageExplanation } from '../../outputs/explanation.js';
import { transferResult } from '../../outputs/transfer.js';

/** The milliseconds that a batch of variants should take: another request waits for at most one batch. */
const BATCH_MS = 50;

/** The milliseconds between two explanations of what is known so far. */
const PARTIAL_MS = 500;

/** The maximum number of variants of a batch. */
const MAX_ROWS = 64;

export interface VariantScores<Variant, Score> {
  /** The number of variants. */
  readonly count: number;
  /** The maximum number of variants of a batch, because of their memory. */
  readonly mostRows: number;
  /** Returns the next `rows` variants. It is called once for each of them, in order. */
  make(from: number, rows: number): readonly Variant[];
  /** Returns the score of each of these variants. */
  score(variants: readonly Variant[]): Promise<readonly Score[]>;
  /** Returns what is known so far; missing if that cannot be shown. */
  partial?(): ImageExplanation;
}

/**
 * Runs variants of an input in batches of about 50 ms. After each batch, the worker handles what has arrived in the
 * meantime, so other requests are answered between two batches. If a batch fails, as where the model's answers differ
 * in length, each variant runs alone from then on. Sends the progress of row `index`.
 * @throws the reason of `context.signal` if it aborts; what `score` throws for a single variant
 */
export async function scoreVariants<Variant, Score>(
  { count, mostRows, make, score, partial }: VariantScores<Variant, Score>,
  index: number,
  context: Context,
): Promise<readonly Score[]> {
  const scores: Score[] = [];
  let limit = Math.max(1, Math.min(MAX_ROWS, mostRows));
  const scoreAll = async (variants: readonly Variant[]): Promise<readonly Score[]> => {
    try {
      return await score(variants);
    } catch (error) {
      if (variants.length === 1) throw error;
    }
    limit = 1;
    const alone: Score[] = [];
    for (const variant of variants) {
      context.signal.throwIfAborted();
      alone.push(...(await score([variant])));
    }
    return alone;
  };
  let rows = 1;
  let told = context.now();
  for (let from = 0; from < count;) {
    context.signal.throwIfAborted();
    context.heartbeat();
    const size = Math.min(rows, limit, count - from);
    const started = context.now();
    scores.push(...(await scoreAll(make(from, size))));
    const took = context.now() - started;
    from += size;
    if (took <= BATCH_MS / 2) rows = Math.min(limit, rows * 2);
    else if (took > BATCH_MS * 2) rows = Math.ceil(rows / 2);
    const progress: ExplainProgress = { done: from, total: count };
    if (partial && from < count && context.now() - told >= PARTIAL_MS) {
      const explanation = partial();
      await context.send(index, transferResult({ ...progress, explanation }, [explanation.heat.buffer]));
      told = context.now();
    } else await context.send(index, progress);
    await nextTask();
  }
  return scores;
}
