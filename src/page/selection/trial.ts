import { enginesOf, partsOf, precisionOf, type Archive, type Part } from '../../contract/archive.js';
import {
  candidateName,
  describeCandidate,
  formatOfEngine,
  isSameCandidate,
  type Backend,
  type Candidate,
  type Probe,
} from '../../contract/backends.js';
import type { DownloadSettings } from '../../contract/downloads.js';
import { blameOf, TabServeError } from '../../contract/errors.js';
import type { Precision } from '../../contract/precisions.js';
import type { RemoteServer } from '../../contract/remote.js';
import type { LargerRun, Opened, Sample } from '../../contract/wire.js';
import { formatOf } from '../../shared/model-url.js';
import type { Connection } from '../workers/connection.js';
import { isReference, whyProve } from './candidates.js';
import { compareWithReference } from './comparison.js';
import type { CompiledFiles } from './opening-workers.js';
import { choosePrecisions, describeExcluded, type ExcludedPrecision } from './precisions.js';
import type { Findings, VerdictCache } from './verdict-cache.js';

export interface TrialOptions {
  readonly archive: Archive;
  readonly probe: Probe;
  readonly handler: string | undefined;
  readonly assets: string | undefined;
  /** The server of models that the app has named. */
  readonly remote?: RemoteServer | undefined;
  readonly download: DownloadSettings;
  readonly compiled: Pick<CompiledFiles, 'find'>;
  /** Whether every candidate without a golden example is compared with WASM. */
  readonly verify: 'golden' | 'reference';
  /** A backend that this client has proven already. */
  readonly trusted: Backend | undefined;
  readonly verdicts: Pick<VerdictCache, 'find' | 'save' | 'hasLarger' | 'findExcluded' | 'saveExcluded'>;
  readonly log: (message: string, since?: number) => void;
  readonly warn: (message: string) => void;
  /** Called with the archive whenever more of it was downloaded, so that no later attempt downloads that again. */
  readonly onArchive: (archive: Archive) => void;
  /**
   * Called with each precision of the model that a candidate does not get, because it failed there, now or at an
   * earlier visit.
   */
  readonly onExclude: (candidate: Candidate, excluded: ExcludedPrecision) => void;
  /** Starts a worker; `until` ends the start too. */
  readonly start: (until: AbortSignal) => Promise<Connection>;
}

/** By `Part.node`; undefined for a part without alternatives. */
type PartPrecisions = Readonly<Record<string, readonly Precision[] | undefined>>;

/** Whether a model is right does not depend on threads. */
function withoutThreads({ engine, name }: Candidate): Candidate {
  return { engine, name };
}

/**
 * What an archive says of its model's file in a precision, and of the golden examples: if that changes, the file is
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

/** A candidate that runs the model. */
export interface Contender {
  readonly candidate: Candidate;
  readonly connection: Connection;
  readonly opened: Opened;
  /** The precision of the model's file, if there are alternatives. */
  readonly precision: Precision | undefined;
  readonly proof: Backend['proof'];
  /** The largest absolute difference from the expected outputs; undefined if they were not compared now. */
  readonly largestError: number | undefined;
  /** Milliseconds of a run; undefined if it was not measured. */
  readonly median: number | undefined;
  /** Whether the median comes from an earlier visit. */
  readonly isCached: boolean;
}

/** Opens candidates one by one, proves each, and measures it if that is wanted. */
export class Trial {
  readonly #options: TrialOptions;
  /** With the model in each format and precision that a candidate has needed. */
  #archive: Archive;
  /** Whether the candidate that is tried has loaded its model. */
  #isLoaded = false;
  /** The precisions that have failed, by candidate and `Part.node`. */
  readonly #failed = new Map<string, readonly ExcludedPrecision[]>();

  constructor(options: TrialOptions) {
    this.#options = options;
    this.#archive = options.archive;
  }

  /**
   * @param budget milliseconds that measuring may take; undefined if the candidate is not to be measured
   * @throws `backend-failed` if it cannot run the model or must be proven and cannot be; `backend-wrong` with the
   *   measured error
   */
  async run(wanted: Candidate, worker: Connection, budget: number | undefined): Promise<Contender> {
    const { verdicts } = this.#options;
    this.#isLoaded = false;
    await this.#recall(wanted);
    const opened = await this.#open(worker, wanted, this.#precisions(wanted));
    // An engine that cannot start its threads has fewer than were wanted.
    const candidate = wanted.threads === undefined ? wanted : { ...wanted, threads: opened.threads };
    const precision = precisionOf(this.#archive, candidate.engine);
    const trusted = this.#trustedProof(candidate);
    const comparing = opened.golden === 0 && trusted !== 'reference' && this.#wantsComparison(candidate, opened);
    const needsVerdict = comparing || budget !== undefined || (await verdicts.hasLarger(candidate));
    const build = needsVerdict ? await this.#build(candidate, opened, worker) : undefined;
    const known = build === undefined ? {} : await verdicts.find(candidate, build);
    if (known.larger?.wrong !== undefined) throw wrongOnLarger(`at an earlier visit, ${known.larger.wrong}`);
    let findings: Findings = known;
    let unknown: string | undefined;
    let largestError = opened.golden > 0 ? opened.error : undefined;
    if (comparing && !findings.compared) {
      const comparison = await this.#compare(candidate, worker, () => worker.call(({ sample }) => sample()));
      if ('unknown' in comparison) unknown = comparison.unknown;
      else {
        findings = { ...findings, compared: true, wrong: comparison.wrong };
        largestError = comparison.error;
      }
    }
    const wrong = comparing ? findings.wrong : undefined;
    const distrust = comparing && !findings.compared ? whyProve(candidate) : undefined;
    if (budget !== undefined && findings.median === undefined && wrong === undefined && distrust === undefined)
      findings = { ...findings, median: (await worker.call(({ measure }) => measure(budget)))?.median };
    if (build !== undefined && findings !== known) await verdicts.save(candidate, build, findings);
    if (wrong !== undefined)
      throw new TabServeError('backend-wrong', `It computes wrongly: compared with WASM, ${wrong}.`);
    if (distrust !== undefined)
      throw new TabServeError(
        'backend-failed',
        `${distrust}, and it could not be proven correct for this model: ${unknown} Give the archive a golden example.`,
      );
    const proof = opened.golden > 0 ? 'golden' : findings.compared ? 'reference' : (trusted ?? 'none');
    if (proof !== 'none' && !isReference(candidate) && candidate.engine !== 'remote')
      await worker.call(({ watchSizes }) => watchSizes(findings.larger?.sizes ?? {}));
    const isCached = known.median !== undefined;
    return {
      candidate,
      connection: worker,
      opened,
      precision,
      proof,
      largestError,
      median: findings.median,
      isCached,
    };
  }

  /**
   * Compares runs on much larger inputs than those of the proof with WASM. The verdict is recorded, so that the next
   * visit does not compare them again. If nothing can be compared, a warning says why.
   * @throws `backend-wrong`
   */
  async compareLarger({ candidate, connection, opened }: Contender, runs: readonly LargerRun[]): Promise<void> {
    const { verdicts, warn } = this.#options;
    const comparison = await this.#compare(candidate, connection, async () => runs);
    if ('unknown' in comparison)
      return warn(
        `${describeCandidate(candidate)} was proven on smaller inputs than these, and no comparison with WASM was possible: ${comparison.unknown}`,
      );
    const { wrong } = comparison;
    const build = await this.#build(candidate, opened, connection);
    if (build !== undefined) {
      const known = await verdicts.find(candidate, build);
      const sizes = Object.fromEntries(runs.map(({ node = '', size }) => [node, size]));
      await verdicts.save(candidate, build, {
        ...known,
        larger: { sizes: { ...known.larger?.sizes, ...sizes }, wrong },
      });
    }
    if (wrong !== undefined) throw wrongOnLarger(wrong);
  }

  /**
   * Excludes the precision of the model that has just failed on a candidate, if it can have another one. A precision
   * that this client has proven has none. One that computes wrongly is recorded, so that the next visit does not
   * download it; a file that is damaged may be mended by then.
   * @returns whether the candidate can be tried again; otherwise it fails as a whole
   */
  async exclude(candidate: Candidate, error: TabServeError): Promise<boolean> {
    const { code, message, stage, node: path = '' } = error;
    // Nodes that share an archive are one part, which has the name of the first.
    const named = path
      .split('/')
      .reduce<Archive | undefined>((one, name) => (name === '' ? one : one?.nodes?.[name]), this.#archive);
    const part = partsOf(this.#archive).find(({ archive }) => archive === named);
    // An engine that cannot be loaded runs no precision.
    const isItsFault = blameOf(code) === 'backend' && stage !== 'load';
    const opened = part && this.#isLoaded && isItsFault ? precisionOf(part.archive, candidate.engine) : undefined;
    const precision = error.precision ?? opened;
    if (!part || precision === undefined) return false;
    if (!this.#excludeOf(candidate, part, { precision, reason: message })) return false;
    if (code === 'backend-wrong')
      await this.#options.verdicts.saveExcluded(withoutThreads(candidate), {
        node: part.node,
        precision,
        reason: message,
        file: describeFile(part.archive, precision, candidate),
      });
    return true;
  }

  /** Excludes what computed wrongly at an earlier visit, if it is still the same file. */
  async #recall(candidate: Candidate): Promise<void> {
    const { probe, verdicts } = this.#options;
    const parts = partsOf(this.#archive).filter(({ node, archive }) => {
      return (choosePrecisions(candidate, archive, probe, this.#failedOn(candidate, node))?.wanted.length ?? 0) > 1;
    });
    if (parts.length === 0) return;
    for (const { node, precision, reason, file } of (await verdicts.findExcluded(withoutThreads(candidate))) ?? []) {
      const part = parts.find((one) => one.node === node);
      const own = part?.archive.alternatives?.find((one) => one.precision === precision)?.precision;
      const isKnown = this.#failedOn(candidate, node).some((one) => one.precision === precision);
      if (!part || own === undefined || isKnown || describeFile(part.archive, own, candidate) !== file) continue;
      this.#excludeOf(candidate, part, { precision: own, reason: `At an earlier visit: ${reason}` });
    }
  }

  /** Excludes a precision, unless the candidate could not have another one. */
  #excludeOf(candidate: Candidate, { node, archive }: Part, excluded: ExcludedPrecision): boolean {
    const { probe, trusted, log, onExclude } = this.#options;
    if (node === '' && trusted !== undefined) return false;
    const failed = [...this.#failedOn(candidate, node), excluded];
    if (choosePrecisions(candidate, archive, probe, failed)!.wanted.length === 0) return false;
    this.#failed.set(`${candidateName(candidate)} ${node}`, failed);
    log(`${describeCandidate(candidate)} does not run ${nameOf(node)} in ${excluded.precision}: ${excluded.reason}`);
    onExclude(candidate, excluded);
    return true;
  }

  #failedOn(candidate: Candidate, node: string): readonly ExcludedPrecision[] {
    return this.#failed.get(`${candidateName(candidate)} ${node}`) ?? [];
  }

  /** How this client has proven the candidate before, with another worker. */
  #trustedProof(candidate: Candidate): Backend['proof'] | undefined {
    const { trusted } = this.#options;
    return trusted && isSameCandidate(trusted, candidate) ? trusted.proof : undefined;
  }

  #wantsComparison(candidate: Candidate, { suspicion }: Opened): boolean {
    if (isReference(candidate)) return false;
    return this.#options.verify === 'reference' || suspicion !== undefined || whyProve(candidate) !== undefined;
  }

  /**
   * The precisions of each part for a candidate, best first; for a backend that this client has proven, the one that
   * was proven.
   */
  #precisions(candidate: Candidate): PartPrecisions {
    const { probe, trusted, log } = this.#options;
    const chosen = partsOf(this.#options.archive).map(({ node, archive }) => {
      if (node === '' && trusted?.precision !== undefined) return [node, [trusted.precision]] as const;
      const failed = this.#failedOn(candidate, node);
      const precisions = choosePrecisions(candidate, archive, probe, failed);
      const excluded =
        precisions?.excluded.filter((one) => !failed.some(({ precision }) => precision === one.precision)) ?? [];
      if (excluded.length > 0)
        log(`${candidateName(candidate)} does not get ${nameOf(node)} in ${describeExcluded(excluded)}.`);
      return [node, precisions?.wanted] as const;
    });
    return Object.fromEntries(chosen);
  }

  #logPrecision(candidate: Candidate, { node, archive }: Part, wanted: readonly Precision[] = []): void {
    const precision = precisionOf(archive, candidate.engine);
    if (precision === undefined) return;
    const missing = wanted.slice(0, wanted.indexOf(precision));
    const why = missing.length > 0 ? `; there is no file in ${missing.join(', ')}` : '';
    const file = archive.models[formatOfEngine(candidate.engine)!];
    const path = node === '' ? file : `${node}: ${file}`;
    this.#options.log(`${candidateName(candidate)} gets ${path} (${precision})${why}.`);
  }

  /** @param precisions those that are wanted of each part's alternatives, best first */
  async #open(worker: Connection, candidate: Candidate, precisions: PartPrecisions): Promise<Opened> {
    const { handler, assets, remote, download, onArchive, compiled } = this.#options;
    const name = candidateName(candidate);
    const { threads } = candidate;
    const start = { candidate: name, threads, assets, remote, download, compiled: compiled.find(name) };
    this.#archive = await worker.call(({ loadModel }) => loadModel(this.#archive, { ...start, precisions }));
    this.#isLoaded = true;
    onArchive(this.#archive);
    for (const part of partsOf(this.#archive)) this.#logPrecision(candidate, part, precisions[part.node]);
    return await worker.call(({ open }) => open({ ...start, archive: this.#archive, handler }));
  }

  /** The model's hash and the engine's version; undefined if there is no hash, in an insecure context. */
  async #build({ engine }: Candidate, { version }: Opened, worker: Connection): Promise<string | undefined> {
    const hash = await worker.call((methods) => methods.hash(this.#archive, engine));
    return hash && `${hash} ${version}`;
  }

  #compare(
    candidate: Candidate,
    worker: Connection,
    samples: () => Promise<readonly Sample[]>,
  ): ReturnType<typeof compareWithReference> {
    const { start, log } = this.#options;
    // Another precision would give other answers.
    const same = partsOf(this.#archive).map(({ node, archive }) => {
      const precision = precisionOf(archive, candidate.engine);
      return [node, precision && [precision]] as const;
    });
    const [engine] = candidate.engine === 'remote' ? enginesOf(this.#archive) : [candidate.engine];
    return compareWithReference(candidate, worker, {
      samples,
      reference: engine && { engine, name: 'wasm' },
      log,
      start,
      open: async (second, reference) => void (await this.#open(second, reference, Object.fromEntries(same))),
    });
  }
}

function wrongOnLarger(wrong: string): TabServeError {
  return new TabServeError(
    'backend-wrong',
    `It computes wrongly on larger inputs than those that it was proven on: compared with WASM, ${wrong}.`,
  );
}
