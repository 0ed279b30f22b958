import { describeCandidate, type Candidate, type Skipped } from '../../contract/backends.js';
import { asTabServeError, blameOf, TabServeError } from '../../contract/errors.js';
import { abortError } from '../../shared/abort.js';
import type { Clock } from '../../shared/clock.js';
import { sortByVerdict } from './order.js';
import { describeSkipped, type SkipList } from './skip-list.js';
import type { Contender } from './trial.js';
import type { CachedVerdict } from './verdict-cache.js';

/** The part of a contender that choosing needs. */
export type Runner = Pick<Contender, 'candidate' | 'median' | 'isCached'> & {
  readonly connection: { close(error: TabServeError): void };
};

export interface ChooseOptions<R extends Runner> {
  readonly modelName: string;
  readonly candidates: readonly Candidate[];
  readonly skips: SkipList;
  /** Milliseconds for measuring, beyond what opening the first candidate takes; undefined if the first candidate that runs is wanted. */
  readonly measureBudget: number | undefined;
  /** What earlier visits found out, by `describeCandidate`. */
  readonly cached: ReadonlyMap<string, CachedVerdict>;
  /**
   * Opens a candidate in a worker of its own, proves it, and measures it for about `budget` milliseconds.
   * @param until aborts the attempt. The attempt closes its worker if it fails or is aborted
   */
  readonly attempt: (candidate: Candidate, budget: number | undefined, until: AbortSignal) => Promise<R>;
  /** Called with a candidate that could not be measured, so that a later visit need not wait for it. */
  readonly onFailure: (candidate: Candidate, error: TabServeError) => Promise<void>;
  readonly log: (message: string, since?: number) => void;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
}

/**
 * Returns the first candidate that runs the model; with a budget, the one with the lowest median of those that were measured in time.
 *
 * The budget is divided evenly among the candidates. When it is used up, candidates that are still opening are skipped.
 * @throws `no-backend` with every reason; `aborted`; at once, an error that does not blame the backend, because every other candidate would fail in the same way
 */
export async function chooseBackend<R extends Runner>(options: ChooseOptions<R>): Promise<R> {
  const { candidates, skips, measureBudget, attempt, onFailure, log, clock, signal } = options;
  const cached = new Map(options.cached);
  const share = measureBudget === undefined ? undefined : measureBudget / candidates.length;
  const tried: Candidate[] = [];
  let best: R | undefined;
  let cause: TabServeError | undefined;
  let deadline = Infinity;
  for (const candidate of sortByVerdict(candidates, cached)) {
    const verdict = cached.get(describeCandidate(candidate));
    if (best && verdict) {
      skips.add(candidate, verdict.reason);
      continue;
    }
    const since = clock.now();
    const why = `was not measured: measureBudget, ${measureBudget} ms, was used up.`;
    const late = new TabServeError('timeout', `It ${why}`);
    const until = new AbortController();
    const cancel = best ? clock.schedule(() => until.abort(late), deadline - since) : undefined;
    try {
      if (since >= deadline) throw late;
      tried.push(candidate);
      const budget = share === undefined ? undefined : Math.min(share, deadline - since);
      const runner = await attempt(candidate, budget, until.signal);
      // A candidate that has no median cannot be measured, and neither can the others.
      if (!best && runner.median === undefined) return runner;
      if (!best) deadline = clock.now() + measureBudget! - share!;
      // A new measurement means that the model or the engine changed: so the cached verdicts on the others do not apply either.
      if (!runner.isCached) cached.clear();
      best = best ? faster(best, runner, skips) : runner;
    } catch (error) {
      if (signal?.aborted) throw abortError(signal);
      cause = until.signal.aborted ? late : asTabServeError(error);
      log(`${describeCandidate(candidate)} ${cause === late ? why : `does not run: ${cause.message}`}`, since);
      const isHopeless = cause !== late && !canAnotherHelp(cause);
      if (isHopeless && !best) throw withReasons(cause, tried, skips);
      if (share !== undefined && !isHopeless) await onFailure(candidate, cause);
      skips.add(candidate, cause.message);
    } finally {
      cancel?.();
    }
  }
  if (best) return best;
  const [failed, others] = byTried(tried, skips);
  const reasons = describeSkipped([...failed, ...others]);
  const isWebnnOnly = skips.entries.every(({ name }) => name === 'webnn');
  const advice = isWebnnOnly ? " Few browsers have WebNN: add 'wasm' to backends, which all of them have." : '';
  throw new TabServeError('no-backend', `No backend can run ${options.modelName}.${advice} ${reasons}`, {
    cause,
    stage: 'initialize',
  });
}

/** Whether another candidate may succeed where one has failed with this error: not if the model, its config, its handler or the app is at fault. */
export function canAnotherHelp({ code }: TabServeError): boolean {
  const blame = blameOf(code);
  return blame === 'backend' || blame === 'worker';
}

function withReasons(cause: TabServeError, tried: readonly Candidate[], skips: SkipList): TabServeError {
  const [failed] = byTried(tried, skips);
  if (failed.length === 0) return cause;
  return new TabServeError(cause.code, `${cause.message} Before that: ${describeSkipped(failed)}`, {
    cause: cause.cause,
    stage: cause.stage,
    node: cause.node,
  });
}

/** Returns what was tried and has failed, which the reader may be able to change, and what was left out. */
function byTried(tried: readonly Candidate[], { entries }: SkipList): [failed: Skipped[], others: Skipped[]] {
  const names = new Set(tried.map(describeCandidate));
  const wasTried = (one: Skipped): boolean => names.has(describeCandidate(one));
  return [entries.filter(wasTried), entries.filter((one) => !wasTried(one))];
}

/** Keeps the faster of two, and closes the other one. */
function faster<R extends Runner>(best: R, runner: R, skips: SkipList): R {
  const [winner, loser] = (runner.median ?? Infinity) < best.median! ? [runner, best] : [best, runner];
  const took = loser.median === undefined ? 'could not be measured' : `is slower: ${loser.median.toFixed(2)} ms a run`;
  skips.add(
    loser.candidate,
    `It ${took}, ${describeCandidate(winner.candidate)} takes ${winner.median!.toFixed(2)} ms.`,
  );
  loser.connection.close(new TabServeError('disposed', 'Another backend is faster.'));
  return winner;
}
