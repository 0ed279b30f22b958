import type { Archive } from '../../contract/archive.js';
import { partsOf, type Part } from '../../contract/archive-parts.js';
import {
  candidateName,
  describeCandidate,
  formatOfEngine,
  type Backend,
  type Candidate,
  type Probe,
} from '../../contract/backends.js';
import type { Precision } from '../../contract/precisions.js';
import { formatOf } from '../../shared/model-url.js';
import { choosePrecisions, describeExcluded, type ExcludedPrecision } from './precisions.js';
import type { VerdictCache } from './verdict-cache.js';

export interface FailedPrecisionsOptions {
  readonly probe: Probe;
  /** A backend that this client has proven already. */
  readonly trusted: Backend | undefined;
  readonly verdicts: Pick<VerdictCache, 'findExcluded' | 'saveExcluded'>;
  readonly log: (message: string) => void;
  /**
   * Called with each precision of the model that a candidate does not get, because it failed there, now or at an
   * earlier visit.
   */
  readonly onExclude: (candidate: Candidate, excluded: ExcludedPrecision) => void;
}

/** By `Part.node`; undefined for a part without alternatives. */
export type PartPrecisions = Readonly<Record<string, readonly Precision[] | undefined>>;

/** Returns a candidate without its number of threads, which does not change whether a model's outputs are right. */
function withoutThreads({ engine, name }: Candidate): Candidate {
  return { engine, name };
}

/**
 * Describes an archive's model file in a precision, with the golden examples. If the description changes, the file is
 * tried again.
 */
function describeFile(
  { alternatives, integrity, golden, variants }: Archive,
  precision: string,
  { engine }: Candidate,
): string {
  const format = formatOfEngine(engine)!;
  const file = alternatives?.find((one) => one.precision === precision && formatOf(one.path) === format);
  const examples = variants?.[format]?.golden ?? golden;
  return JSON.stringify([file, examples, [file?.path ?? '', ...examples].map((path) => integrity[path]?.sha256)]);
}

function nameOf(node: string): string {
  return node === '' ? 'the model' : `node "${node}"`;
}

/** The precisions of a model's parts that have failed on a candidate. The candidate gets the next one that is left. */
export class FailedPrecisions {
  readonly #options: FailedPrecisionsOptions;
  /** By candidate and `Part.node`. */
  readonly #failed = new Map<string, readonly ExcludedPrecision[]>();

  constructor(options: FailedPrecisionsOptions) {
    this.#options = options;
  }

  /** Excludes what computed wrongly at an earlier visit, if it is still the same file. */
  async recall(candidate: Candidate, whole: Archive): Promise<void> {
    const { probe, verdicts } = this.#options;
    const parts = partsOf(whole).filter(({ node, archive }) => {
      return (choosePrecisions(candidate, archive, probe, this.#of(candidate, node))?.wanted.length ?? 0) > 1;
    });
    if (parts.length === 0) return;
    for (const { node, precision, reason, file } of (await verdicts.findExcluded(withoutThreads(candidate))) ?? []) {
      const part = parts.find((one) => one.node === node);
      const own = part?.archive.alternatives?.find((one) => one.precision === precision)?.precision;
      const isKnown = this.#of(candidate, node).some((one) => one.precision === precision);
      if (!part || own === undefined || isKnown || describeFile(part.archive, own, candidate) !== file) continue;
      this.add(candidate, part, { precision: own, reason: `At an earlier visit: ${reason}` });
    }
  }

  /** Excludes a precision. @returns whether it is excluded: not if the candidate could not have another one */
  add(candidate: Candidate, { node, archive }: Part, excluded: ExcludedPrecision): boolean {
    const { probe, trusted, log, onExclude } = this.#options;
    if (node === '' && trusted !== undefined) return false;
    const failed = [...this.#of(candidate, node), excluded];
    if (choosePrecisions(candidate, archive, probe, failed)!.wanted.length === 0) return false;
    this.#failed.set(`${candidateName(candidate)} ${node}`, failed);
    log(`${describeCandidate(candidate)} does not run ${nameOf(node)} in ${excluded.precision}: ${excluded.reason}`);
    onExclude(candidate, excluded);
    return true;
  }

  #of(candidate: Candidate, node: string): readonly ExcludedPrecision[] {
    return this.#failed.get(`${candidateName(candidate)} ${node}`) ?? [];
  }

  /** Records one that computes wrongly, so that the next visit does not download it. */
  async save(candidate: Candidate, { node, archive }: Part, { precision, reason }: ExcludedPrecision): Promise<void> {
    const file = describeFile(archive, precision, candidate);
    await this.#options.verdicts.saveExcluded(withoutThreads(candidate), { node, precision, reason, file });
  }

  /**
   * Returns the precisions of each part that are left for a candidate, best first; for a backend that this client has
   * proven, the one that was proven.
   */
  left(candidate: Candidate, whole: Archive): PartPrecisions {
    const { probe, trusted, log } = this.#options;
    const chosen = partsOf(whole).map(({ node, archive }) => {
      if (node === '' && trusted?.precision !== undefined) return [node, [trusted.precision]] as const;
      const failed = this.#of(candidate, node);
      const precisions = choosePrecisions(candidate, archive, probe, failed);
      const excluded =
        precisions?.excluded.filter((one) => !failed.some(({ precision }) => precision === one.precision)) ?? [];
      if (excluded.length > 0)
        log(`${candidateName(candidate)} does not get ${nameOf(node)} in ${describeExcluded(excluded)}.`);
      return [node, precisions?.wanted] as const;
    });
    return Object.fromEntries(chosen);
  }
}
