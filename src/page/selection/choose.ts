import { describeCandidate, type Candidate, type Skipped, describeThreads } from '../../contract/backends.js';
import { describeTime } from '../../contract/describe-value.js';
import { asTabServeError, blameOf, TabServeError } from '../../contract/errors.js';
import { abortError } from '../../shared/abort.js';
import type { Clock } from '../../shared/clock.js';
import { sortByVerdict } from './order.js';
import type { Contender } from './trial.js';
import type { CachedVerdict } from './verdict-cache.js';
import type { Precision } from '../../contract/precisions.js';

/** What choosing needs of a contender. */
export type Runner = Pick<Contender, 'candidate' | 'median' | 'isCached'>;

export interface ChooseOptions<R extends Runner> {
  readonly modelName: string;
  readonly candidates: readonly Candidate[];
  readonly skips: SkipList;
  /**
   * Milliseconds for measuring, in addition to the time of opening the first candidate; undefined if the first
   * candidate that runs is wanted.
   */
  readonly measureBudget: number | undefined;
  /** What earlier visits found out, by `describeCandidate`. */
  readonly cached: ReadonlyMap<string, CachedVerdict>;
  /**
   * Opens a candidate in a worker of its own, proves it, and measures it for about `budget` milliseconds.
   * @param until aborts the attempt. The attempt closes its worker if it fails or is aborted
   */
  readonly attempt: (candidate: Candidate, budget: number | undefined, until: AbortSignal) => Promise<R>;
  /** Ends a contender that is slower than another. */
  readonly dismiss: (slower: R) => void;
  /** Called with a candidate that could not be measured, so that a later visit need not wait for it. */
  readonly onFailure: (candidate: Candidate, error: TabServeError) => Promise<void>;
  readonly log: (message: string, since?: number) => void;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
}

/**
 * Returns the first candidate that runs the model; with a budget, the one with the lowest median of those that were
 * measured in time.
 *
 * The budget is divided evenly among the candidates. When it is used up, candidates that are still opening are skipped.
 * @throws `no-backend` with every reason; `aborted`; at once, an error that does not blame the backend, because every
 *   other candidate would fail in the same way
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
      // If one candidate has no median, the others cannot be measured either.
      if (!best && runner.median === undefined) return runner;
      if (!best) deadline = clock.now() + measureBudget! - share!;
      // A new measurement means that the model or the engine changed: so the cached verdicts on the others do not apply
      // either.
      if (!runner.isCached) cached.clear();
      best = best ? faster(best, runner, options) : runner;
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
  if (cause && isMissingScript(cause)) throw withReasons(cause, tried.slice(0, -1), skips);
  const [failed, others] = byTried(tried, skips);
  const reasons = describeSkipped([...failed, ...others]);
  const isWebnnOnly = skips.entries.every(({ name }) => name === 'webnn');
  const advice = isWebnnOnly ? " Few browsers have WebNN: add 'wasm' to backends, which all of them have." : '';
  throw new TabServeError('no-backend', `No backend can run ${options.modelName}.${advice} ${reasons}`, {
    cause,
    stage: 'initialize',
  });
}

/**
 * Returns whether another candidate may succeed after one has failed with this error: not if the model, its config, its
 * handler or the app is at fault. The script of one engine may be missing while that of another one is there.
 */
export function canAnotherHelp(error: TabServeError): boolean {
  const blame = blameOf(error.code);
  return blame === 'backend' || blame === 'worker' || isMissingScript(error);
}

/** Returns whether a script of the worker's could not be loaded. That says nothing about the next visit. */
export function isMissingScript({ code }: TabServeError): boolean {
  return code === 'worker-failed';
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

/** Describes what was tried and failed, which the reader may be able to change, and what was left out. */
function byTried(tried: readonly Candidate[], { entries }: SkipList): [failed: Skipped[], others: Skipped[]] {
  const names = new Set(tried.map(describeCandidate));
  const wasTried = (one: Skipped): boolean => names.has(describeCandidate(one));
  return [entries.filter(wasTried), entries.filter((one) => !wasTried(one))];
}

/** Keeps the faster of two, and dismisses the other one. */
function faster<R extends Runner>(best: R, runner: R, { skips, dismiss }: ChooseOptions<R>): R {
  const [winner, loser] = (runner.median ?? Infinity) < best.median! ? [runner, best] : [best, runner];
  const took = loser.median === undefined ? 'could not be measured' : `is slower: ${describeTime(loser.median)} a run`;
  skips.add(
    loser.candidate,
    `It ${took}, ${describeCandidate(winner.candidate)} takes ${describeTime(winner.median!)}.`,
  );
  dismiss(loser);
  return winner;
}

/**
 * The candidates that do not run, each once, with the latest reason; and the precisions of the model that are wrong on
 * one.
 */
export class SkipList {
  #entries: readonly Skipped[];

  constructor(entries: readonly Skipped[] = []) {
    this.#entries = entries;
  }

  /**
   * Adds a candidate, or replaces the reason of one that is in the list: it may be tried last, and then fail.
   * @param precision of the model, if only that precision of it is skipped
   */
  add({ engine, name, threads }: Candidate, reason: string, precision?: Precision): void {
    const candidate = { engine, name, ...(threads !== undefined && { threads }) };
    const others = this.#entries.filter((one) => !isSame(one, candidate) || one.precision !== precision);
    this.#entries = [...others, { ...candidate, ...(precision && { precision }), reason }];
  }

  /**
   * Returns the entries without that of a candidate. Those of its precisions stay. Reasons name the number of threads
   * that they apply to.
   */
  without(candidate: Candidate): readonly Skipped[] {
    return this.#entries.filter((one) => !isSame(one, candidate) || one.precision !== undefined).map(nameThreads);
  }

  get entries(): readonly Skipped[] {
    return this.#entries;
  }
}

/** Returns the reasons as one line of text: each once, after all candidates that it applies to. */
export function describeSkipped(entries: readonly Skipped[]): string {
  const nameOf = (entry: Skipped): string =>
    `${describeCandidate(entry)}${entry.precision ? ` (${entry.precision})` : ''}`;
  const names = new Map<string, string[]>();
  for (const entry of entries) names.set(entry.reason, [...(names.get(entry.reason) ?? []), nameOf(entry)]);
  return [...names].map(([reason, all]) => `${all.join(', ')}: ${reason}`).join(' ');
}

/** Returns an entry whose reason names the number of threads. That of a precision applies to every number. */
function nameThreads(entry: Skipped): Skipped {
  const { threads, precision, reason } = entry;
  if (threads === undefined || precision !== undefined) return entry;
  const subject = `With ${describeThreads(threads)}`;
  // The client's next worker gets the reasons of the one before.
  if (reason.startsWith(subject)) return entry;
  return { ...entry, reason: reason.startsWith('It ') ? `${subject} it${reason.slice(2)}` : `${subject}: ${reason}` };
}

/** Returns whether two entries are the same candidate, with the same number of threads. */
function isSame(a: Candidate, b: Candidate): boolean {
  return describeCandidate(a) === describeCandidate(b);
}
