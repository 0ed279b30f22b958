import type { Archive } from '../../contract/archive.js';
import { allParts, enginesOf, partsOf, precisionOf, type Part } from '../../contract/archive-parts.js';
import {
  candidateName,
  type PowerPreference,
  describeCandidate,
  formatOfEngine,
  isReference,
  isSameCandidate,
  type Backend,
  type Candidate,
} from '../../contract/backends.js';
import type { DownloadSettings } from '../../contract/downloads.js';
import { blameOf, TabServeError } from '../../contract/errors.js';
import type { Precision } from '../../contract/precisions.js';
import type { RemoteServer } from '../../contract/remote.js';
import type { LargerRun, Opened, Sample } from '../../contract/wire.js';
import { memoryOf } from '../../shared/memory.js';
import type { Connection } from '../workers/connection.js';
import { whyProve } from './candidates.js';
import { compareWithReference } from './comparison.js';
import type { CompiledFiles } from './opening-workers.js';
import { FailedPrecisions, type FailedPrecisionsOptions, type PartPrecisions } from './failed-precisions.js';
import type { Findings, VerdictCache } from './verdict-cache.js';

export interface TrialOptions extends FailedPrecisionsOptions {
  readonly archive: Archive;
  readonly handler: string | undefined;
  readonly assets: string | undefined;
  /** The server of models that the app has named. */
  readonly remote?: RemoteServer | undefined;
  readonly powerPreference?: PowerPreference | undefined;
  readonly download: DownloadSettings;
  readonly compiled: Pick<CompiledFiles, 'find'>;
  /** Whether every candidate without a golden example is compared with WASM. */
  readonly verify: 'golden' | 'reference';
  readonly verdicts: Pick<VerdictCache, 'find' | 'save' | 'hasLarger' | 'findExcluded' | 'saveExcluded'>;
  readonly log: (message: string, since?: number) => void;
  readonly warn: (message: string) => void;
  /** Called with the archive whenever more of it was downloaded, so that no later attempt downloads that again. */
  readonly onArchive: (archive: Archive) => void;
  /** Starts a worker; `until` also ends the start. */
  readonly start: (until: AbortSignal) => Promise<Connection>;
}

/** A candidate that runs the model. */
export interface Contender {
  readonly candidate: Candidate;
  readonly connection: Connection;
  readonly opened: Opened;
  /** The precision of the model's files, if there are alternatives and all parts have the same. */
  readonly precision: Precision | undefined;
  readonly proof: Backend['proof'];
  /** The largest absolute difference from the expected outputs; undefined if they were not compared now. */
  readonly largestError: number | undefined;
  /** Milliseconds of a run; undefined if it was not measured. */
  readonly median: number | undefined;
  /** Whether the median comes from an earlier visit. */
  readonly isCached: boolean;
}

/** GB of memory where the browser does not say it. */
const USUAL_MEMORY = 4;

/** Opens candidates one by one, proves each, and measures it if that is wanted. */
export class Trial {
  readonly #options: TrialOptions;
  /** The archive, with the model in each format and precision that a candidate has needed. */
  #archive: Archive;
  /** Whether the candidate that is tried has loaded its model. */
  #isLoaded = false;
  readonly #failed: FailedPrecisions;

  constructor(options: TrialOptions) {
    this.#options = options;
    this.#archive = options.archive;
    this.#failed = new FailedPrecisions(options);
  }

  /**
   * @param budget milliseconds that measuring may take; undefined if the candidate is not to be measured
   * @param isLast whether it is not measured, and no other candidate follows
   * @throws `backend-failed` if it cannot run the model or must be proven and cannot be; `backend-wrong` with the
   *   measured error
   */
  async run(wanted: Candidate, worker: Connection, budget: number | undefined, isLast: boolean): Promise<Contender> {
    const { verdicts } = this.#options;
    this.#isLoaded = false;
    await this.#failed.recall(wanted, this.#archive);
    const left = this.#failed.left(wanted, this.#options.archive);
    // Whether the first run fails changes nothing where neither another backend nor another precision could take over.
    const isSpared = isLast && isReference(wanted) && Object.values(left).every((one) => !one?.[1]);
    const opened = await this.#open(worker, wanted, left, isSpared);
    // An engine that cannot start its threads runs with fewer.
    const candidate = wanted.threads === undefined ? wanted : { ...wanted, threads: opened.threads };
    const precisions = partsOf(this.#archive).map(({ archive }) => precisionOf(archive, candidate.engine));
    const [precision, ...others] = new Set(precisions);
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
    if (unknown !== undefined && distrust === undefined) this.#warnUnproven(candidate, unknown);
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
      precision: others.length > 0 ? undefined : precision,
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
      return warn(`${describeCandidate(candidate)} was proven on smaller inputs alone: ${comparison.unknown}`);
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
   * download it; a damaged file may be repaired by then.
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
    const excluded = { precision, reason: message };
    if (!this.#failed.add(candidate, part, excluded)) return false;
    if (code === 'backend-wrong') await this.#failed.save(candidate, part, excluded);
    return true;
  }

  /** Returns how this client has proven the candidate before, with another worker. */
  #trustedProof(candidate: Candidate): Backend['proof'] | undefined {
    const { trusted } = this.#options;
    return trusted && isSameCandidate(trusted, candidate) ? trusted.proof : undefined;
  }

  #wantsComparison(candidate: Candidate, { suspicion }: Opened): boolean {
    if (isReference(candidate)) return false;
    if (this.#options.verify === 'reference' || suspicion !== undefined || whyProve(candidate) !== undefined)
      return true;
    const isOfRepository = allParts(this.#archive).some(({ archive }) => archive.isRepository);
    if (!isOfRepository || candidate.engine === 'remote' || this.#trustedProof(candidate)) return false;
    // WASM's copy of the model takes at most a quarter of the device's memory.
    const { memory = USUAL_MEMORY } = this.#options.probe;
    const models = partsOf(this.#archive).map(({ archive }) => ({
      precision: precisionOf(archive, candidate.engine),
      bytes: Object.values(archive.files).reduce((sum, { size }) => sum + size, 0),
    }));
    if (memoryOf({ name: 'wasm' }, models)! <= (memory * 2 ** 30) / 4) return true;
    const size = `${Math.round(models.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6)} MB`;
    this.#warnUnproven(
      candidate,
      `a second copy of its ${size} might not fit in memory. To compare anyway, set verify: 'reference'.`,
    );
    return false;
  }

  #warnUnproven(candidate: Candidate, why: string): void {
    this.#options.warn(`${candidateName(candidate)} was not compared with WASM, so nothing proves its answers: ${why}`);
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
  async #open(
    worker: Connection,
    candidate: Candidate,
    precisions: PartPrecisions,
    isSpared: boolean,
  ): Promise<Opened> {
    const { handler, assets, remote, powerPreference, download, onArchive, compiled } = this.#options;
    const name = candidateName(candidate);
    const { threads } = candidate;
    const start = {
      candidate: name,
      threads,
      assets,
      remote,
      powerPreference,
      download,
      compiled: compiled.find(name),
    };
    this.#archive = await worker.call(({ loadModel }) => loadModel(this.#archive, { ...start, precisions }));
    this.#isLoaded = true;
    onArchive(this.#archive);
    for (const part of partsOf(this.#archive)) this.#logPrecision(candidate, part, precisions[part.node]);
    return await worker.call(({ open }) => open({ ...start, archive: this.#archive, handler, isSpared }));
  }

  /** Returns the model's hash and the engine's version; undefined if there is no hash, in an insecure context. */
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
      open: async (second, reference) => void (await this.#open(second, reference, Object.fromEntries(same), true)),
    });
  }
}

function wrongOnLarger(wrong: string): TabServeError {
  return new TabServeError(
    'backend-wrong',
    `It computes wrongly on larger inputs than those that it was proven on: compared with WASM, ${wrong}.`,
  );
}
