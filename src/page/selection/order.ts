import {
  candidateName,
  isSameCandidate,
  type Backend,
  type Candidate,
  describeCandidate,
  type Skipped,
  CANDIDATES,
  candidateOf,
  formatsKey,
  type BackendName,
  type CandidateName,
  type ModelFormat,
  type Probe,
} from '../../contract/backends.js';
import { chooseCandidates, type Candidates, type Choice } from './candidates.js';
import type { CachedVerdict } from './verdict-cache.js';
import type { Archive, ModelConfig } from '../../contract/archive.js';
import { formatOf, readModelUrl } from '../../shared/model-url.js';
import { defaultThreads } from '../../shared/threads.js';

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
 * Returns the candidates to try, in order, and a reason for each one that is skipped. It takes this client's earlier
 * losses into account: demoted candidates are skipped, unless all of them were demoted. A pure function.
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
 * Sorts candidates by their cached verdicts: first the measured ones, fastest first; then those without a verdict; then
 * those that failed.
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

/** Backends that need no probe: they run wherever the SDK runs, or the browser knows nothing about them. */
const UNPROBED: ReadonlySet<BackendName> = new Set(['wasm', 'cpu', 'remote']);

/**
 * Returns whether the browser's GPUs matter for the choice. A GPU that nobody wants is not probed, because that takes
 * tens of milliseconds. A pure function.
 * @param named what the caller has named @param only the only backend that is wanted
 */
export function needsGpus(named: readonly (BackendName | CandidateName)[] | undefined, only?: Backend): boolean {
  const names = only ? [candidateName(only)] : named;
  return names === undefined || names.some((name) => !UNPROBED.has(backendOf(name)));
}

/** The formats that an archive may turn out to have its model in. */
const POSSIBLE: readonly (readonly ModelFormat[])[] = [['onnx'], ['tfjs'], ['onnx', 'tfjs']];

/**
 * Returns the candidate that is tried first, for each set of formats that the archive may turn out to have
 * (`formatsKey`): its engine can start as soon as the formats are known. A set is missing if the choice depends on more
 * than that. A pure function.
 * @param source where the model is; a URL may name the format
 */
export function firstCandidates(
  choice: Omit<PlanOptions, 'archive' | 'proven'>,
  source: unknown,
): Readonly<Record<string, CandidateName>> {
  const format = typeof source === 'string' ? formatOf(readModelUrl(source).file ?? '') : undefined;
  const first = (formats: readonly ModelFormat[], proven: boolean): CandidateName | undefined => {
    const [candidate] = planCandidates({ ...choice, archive: archiveOf(formats), proven }).candidates;
    return candidate && candidateName(candidate);
  };
  const byFormats: Record<string, CandidateName> = {};
  for (const formats of format ? [[format]] : POSSIBLE) {
    const name = first(formats, true);
    // A server has no engine to start.
    if (name !== undefined && name !== 'remote/http' && name === first(formats, false))
      byFormats[formatsKey(formats)] = name;
  }
  return byFormats;
}

/** Returns what is known of an archive that has a model in these formats. */
function archiveOf(formats: readonly ModelFormat[]): Archive {
  const models = Object.fromEntries(formats.map((format) => [format, 'model']));
  return { url: '', manifest: { model: { modelName: '' } }, config: {}, models, files: {}, golden: [], integrity: {} };
}

function backendOf(name: BackendName | CandidateName): BackendName {
  return isCandidate(name) ? candidateOf(name).name : name;
}

function isCandidate(name: string): name is CandidateName {
  return (CANDIDATES as readonly string[]).includes(name);
}

/** The numbers of threads that are measured. */
const COUNTS = [1, 2, 4];

/**
 * Returns the numbers of threads to measure for ONNX Runtime's WASM, the default first. Each of `maxWorkers` workers
 * must get cores of its own. A pure function.
 * @returns an empty list if there is nothing to choose: memory cannot be shared, or the config sets the number
 */
export function threadCounts({ wasm, cores }: Probe, { engine }: ModelConfig, maxWorkers: number): readonly number[] {
  if (!wasm.available || !wasm.threads || engine?.threads !== undefined) return [];
  const first = defaultThreads(cores, maxWorkers);
  return [first, ...COUNTS.filter((count) => count !== first && count * maxWorkers <= cores)];
}
