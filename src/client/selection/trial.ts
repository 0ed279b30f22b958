import { enginesOf, partsOf, precisionOf, type Archive, type Part } from '../../contract/archive.js';
import { candidateName, isSameCandidate, type Backend, type Candidate, type Probe } from '../../contract/backends.js';
import type { DownloadSettings } from '../../contract/downloads.js';
import { TabServeError } from '../../contract/errors.js';
import type { Precision } from '../../contract/precisions.js';
import type { RemoteServer } from '../../contract/remote.js';
import type { Opened } from '../../contract/wire.js';
import type { Connection } from '../workers/connection.js';
import { isReference, mustBeProven } from './candidates.js';
import { compareWithReference } from './comparison.js';
import type { CompiledFiles } from './compiled-files.js';
import { choosePrecisions, describeUnfit } from './precisions.js';
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
  readonly verdicts: Pick<VerdictCache, 'find' | 'save'>;
  readonly log: (message: string, since?: number) => void;
  /** Called with the archive whenever more of it was downloaded, so that no later attempt downloads that again. */
  readonly onArchive: (archive: Archive) => void;
  /** Starts a worker; `until` ends the start too. */
  readonly start: (until: AbortSignal) => Promise<Connection>;
}

/** By `Part.node`; undefined for a part without alternatives. */
type PartPrecisions = Readonly<Record<string, readonly Precision[] | undefined>>;

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

  constructor(options: TrialOptions) {
    this.#options = options;
    this.#archive = options.archive;
  }

  /**
   * @param budget milliseconds that measuring may take; undefined if the candidate is not to be measured
   * @throws `backend-failed` if it cannot run the model or must be proven and cannot be; `backend-wrong` with the measured error
   */
  async run(candidate: Candidate, worker: Connection, budget: number | undefined): Promise<Contender> {
    const { verdicts } = this.#options;
    const opened = await this.#open(worker, candidate, this.#precisions(candidate));
    const precision = precisionOf(this.#archive);
    const trusted = this.#trustedProof(candidate);
    const comparing = opened.golden === 0 && trusted !== 'reference' && this.#wantsComparison(candidate, opened);
    const build = comparing || budget !== undefined ? await this.#build(candidate, opened, worker) : undefined;
    const known = build === undefined ? {} : await verdicts.find(candidate, build);
    let findings: Findings = known;
    let unknown: string | undefined;
    let largestError = opened.golden > 0 ? opened.error : undefined;
    if (comparing && !findings.compared) {
      const comparison = await this.#compare(candidate, worker);
      if ('unknown' in comparison) unknown = comparison.unknown;
      else {
        findings = { ...findings, compared: true, wrong: comparison.wrong };
        largestError = comparison.error;
      }
    }
    const wrong = comparing ? findings.wrong : undefined;
    const isUnproven = comparing && !findings.compared && mustBeProven(candidate);
    if (budget !== undefined && findings.median === undefined && wrong === undefined && !isUnproven)
      findings = { ...findings, median: (await worker.call(({ measure }) => measure(budget)))?.median };
    if (build !== undefined && findings !== known) await verdicts.save(candidate, build, findings);
    if (wrong !== undefined)
      throw new TabServeError('backend-wrong', `It computes wrongly: compared with WASM, ${wrong}.`);
    if (isUnproven)
      throw new TabServeError(
        'backend-failed',
        `It computes some models wrongly, and could not be proven correct for this one: ${unknown} Give the archive a golden example.`,
      );
    const proof = opened.golden > 0 ? 'golden' : findings.compared ? 'reference' : (trusted ?? 'none');
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

  /** How this client has proven the candidate before, with another worker. */
  #trustedProof(candidate: Candidate): Backend['proof'] | undefined {
    const { trusted } = this.#options;
    return trusted && isSameCandidate(trusted, candidate) ? trusted.proof : undefined;
  }

  #wantsComparison(candidate: Candidate, { suspicion }: Opened): boolean {
    if (isReference(candidate)) return false;
    return this.#options.verify === 'reference' || suspicion !== undefined || mustBeProven(candidate);
  }

  /** The precisions of each part for a candidate, best first; for a backend that this client has proven, the one that was proven. */
  #precisions(candidate: Candidate): PartPrecisions {
    const { probe, trusted, log } = this.#options;
    const chosen = partsOf(this.#options.archive).map(({ node, archive }) => {
      if (node === '' && trusted?.precision !== undefined) return [node, [trusted.precision]] as const;
      const precisions = choosePrecisions(candidate, archive, probe);
      if (precisions && precisions.unfit.length > 0)
        log(`${candidateName(candidate)} does not get ${nameOf(node)} in ${describeUnfit(precisions.unfit)}.`);
      return [node, precisions?.wanted] as const;
    });
    return Object.fromEntries(chosen);
  }

  #logPrecision(candidate: Candidate, { node, archive }: Part, wanted: readonly Precision[] = []): void {
    const precision = precisionOf(archive);
    if (precision === undefined) return;
    const missing = wanted.slice(0, wanted.indexOf(precision));
    const why = missing.length > 0 ? `; there is no file in ${missing.join(', ')}` : '';
    const path = node === '' ? archive.models.onnx : `${node}: ${archive.models.onnx}`;
    this.#options.log(`${candidateName(candidate)} gets ${path} (${precision})${why}.`);
  }

  /** @param precisions those that are wanted of each part's alternatives, best first */
  async #open(worker: Connection, candidate: Candidate, precisions: PartPrecisions): Promise<Opened> {
    const { handler, assets, remote, download, onArchive, compiled } = this.#options;
    const name = candidateName(candidate);
    const start = { candidate: name, assets, remote, download, compiled: compiled.find(name) };
    this.#archive = await worker.call(({ loadModel }) => loadModel(this.#archive, { ...start, precisions }));
    onArchive(this.#archive);
    for (const part of partsOf(this.#archive)) this.#logPrecision(candidate, part, precisions[part.node]);
    return await worker.call(({ open }) => open({ ...start, archive: this.#archive, handler }));
  }

  /** The model's hash and the engine's version; undefined if there is no hash, in an insecure context. */
  async #build({ engine }: Candidate, { version }: Opened, worker: Connection): Promise<string | undefined> {
    const hash = await worker.call((methods) => methods.hash(this.#archive, engine));
    return hash && `${hash} ${version}`;
  }

  #compare(candidate: Candidate, worker: Connection): ReturnType<typeof compareWithReference> {
    const { start, log } = this.#options;
    // Another precision would give other answers.
    const same = partsOf(this.#archive).map(({ node, archive }) => {
      const precision = precisionOf(archive);
      return [node, precision && [precision]] as const;
    });
    const [engine] = candidate.engine === 'remote' ? enginesOf(this.#archive) : [candidate.engine];
    return compareWithReference(candidate, worker, {
      reference: engine && { engine, name: 'wasm' },
      log,
      start,
      open: async (second, reference) => void (await this.#open(second, reference, Object.fromEntries(same))),
    });
  }
}
