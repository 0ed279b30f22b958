import {
  candidateName,
  isSameCandidate,
  type Backend,
  type Candidate,
  describeCandidate,
  type Skipped,
} from '../../contract/backends.js';
import { chooseCandidates, type Candidates, type Choice } from './candidates.js';
import type { CachedVerdict } from './verdict-cache.js';

export interface PlanOptions extends Choice {
  /** Candidates that were demoted after losses, with reasons. */
  readonly demoted?: readonly Skipped[] | undefined;
  /** The only backend that is wanted. */
  readonly only?: Backend | undefined;
  /** The backend to try first; its reasons for skipping others still hold. */
  readonly first?: Backend | undefined;
  /** The numbers of threads to measure on WASM, in this order. @default none: the engine's default is taken */
  readonly threads?: readonly number[] | undefined;
}

/**
 * Returns the candidates to try, in order, and a reason for each one that is skipped. It takes this client's earlier losses into account: demoted
 * candidates are skipped, unless all of them were demoted. A pure function.
 * @throws `model-config` if a name is neither a backend nor a candidate
 */
export function planCandidates({ demoted = [], only, first, threads = [], ...choice }: PlanOptions): Candidates {
  const chosen = chooseCandidates({ ...choice, named: only ? [candidateName(only)] : choice.named });
  const reasons = [...chosen.skipped, ...demoted];
  const skipped = [...reasons, ...(first?.skipped ?? []).filter((one) => !has(reasons, one))];
  const remaining = chosen.candidates.filter((one) => !has(demoted, one));
  const planned = remaining.length > 0 ? remaining : chosen.candidates;
  const known = only ?? first;
  const candidates = planned.flatMap((one) =>
    withThreads(one, isSameCandidate(one, known) ? [known!.threads] : threads),
  );
  return { candidates: first ? candidates.toSorted((a, b) => rank(a, first) - rank(b, first)) : candidates, skipped };
}

/** Returns a candidate once for each number of threads, if the number makes a difference to it. */
function withThreads(candidate: Candidate, threads: readonly number[]): readonly Candidate[] {
  if (candidateName(candidate) !== 'onnx/wasm' || threads.length === 0) return [candidate];
  return threads.map((count) => ({ ...candidate, threads: count }));
}

function has(list: readonly Candidate[], candidate: Candidate): boolean {
  return list.some((one) => isSameCandidate(one, candidate));
}

function rank(candidate: Candidate, first: Candidate): number {
  return isSameCandidate(candidate, first) ? 0 : 1;
}

/**
 * Sorts candidates by their cached verdicts: first the measured ones, fastest first; then those without a verdict; then those that failed.
 */
export function sortByVerdict(
  candidates: readonly Candidate[],
  cached: ReadonlyMap<string, CachedVerdict>,
): readonly Candidate[] {
  const rank = (candidate: Candidate): number => {
    const verdict = cached.get(describeCandidate(candidate));
    return verdict ? (verdict.median ?? Infinity) : Number.MAX_VALUE;
  };
  return candidates.toSorted((a, b) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b)));
}
