import {
  candidateName,
  isSameCandidate,
  type Backend,
  type Candidate,
  type CandidateName,
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
}

/**
 * Returns the candidates to try, in order, and a reason for each one that is skipped. It takes this client's earlier losses into account: demoted
 * candidates are skipped, unless all of them were demoted. A pure function.
 * @throws `model-config` if a name is neither a backend nor a candidate
 */
export function planCandidates({ demoted = [], only, first, ...choice }: PlanOptions): Candidates {
  const chosen = chooseCandidates({ ...choice, named: only ? [candidateName(only)] : choice.named });
  const known = [...chosen.skipped, ...demoted];
  const skipped = [...known, ...(first?.skipped ?? []).filter((one) => !has(known, one))];
  const remaining = chosen.candidates.filter((one) => !has(demoted, one));
  const candidates = remaining.length > 0 ? remaining : chosen.candidates;
  return { candidates: first ? candidates.toSorted((a, b) => rank(a, first) - rank(b, first)) : candidates, skipped };
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
  cached: ReadonlyMap<CandidateName, CachedVerdict>,
): readonly Candidate[] {
  const rank = (candidate: Candidate): number => {
    const verdict = cached.get(candidateName(candidate));
    return verdict ? (verdict.median ?? Infinity) : Number.MAX_VALUE;
  };
  return candidates.toSorted((a, b) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b)));
}
