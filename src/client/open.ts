import { chooseCandidates, type Candidate } from '../backends/candidates.js';
import { compareOutputs } from '../backends/proof.js';
import type { Archive, Backend, BackendName, CandidateName, ModelConfig, Probe, Progress, Skipped } from '../contract.js';
import { asTabServeError, TabServeError, type ErrorCode } from '../errors.js';
import type { Opened } from '../wire.js';
import { abortion } from './abort.js';
import { Connection, type WorkerFactory } from './connection.js';
import type { Story } from './story.js';
import type { Verdict, VerdictStore } from './verdicts.js';

export interface OpenOptions {
  readonly factory: WorkerFactory;
  readonly source: string | File;
  readonly handler: string | undefined;
  readonly backends: readonly (BackendName | CandidateName)[] | undefined;
  /** The first candidate that can, or the one with the lowest median. */
  readonly prefer: 'first' | 'fastest';
  /** Milliseconds that measuring may take, beyond what opening the first candidate takes. */
  readonly measureBudget: number;
  /** By the archive's golden examples alone, or, where it has none, against WASM too. */
  readonly verify: 'golden' | 'reference';
  readonly verdicts: VerdictStore;
  readonly config: ModelConfig | undefined;
  readonly assets: string | undefined;
  readonly startupTimeout: number;
  readonly responseTimeout: number;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((progress: Progress) => void) | undefined;
  /** Candidates that were given up, with reasons. */
  readonly demoted?: readonly Skipped[];
  /** The only one that will do. */
  readonly only?: Backend;
  /** An archive that the page holds already. */
  readonly archive: Archive | undefined;
  /** Called with the archive whenever there is more of it, so that no later try downloads that again. */
  readonly onArchive: (archive: Archive) => void;
  readonly onProbe: (probe: Probe) => void;
  readonly story: Story;
}

export interface Open {
  readonly connection: Connection;
  readonly backend: Backend;
}

/** What another backend cannot mend, because the model, its config or its handler is at fault. */
const FATAL: ReadonlySet<ErrorCode> = new Set([
  'network', 'model-not-found', 'model-format', 'model-config', 'unknown-handler', 'handler-failed', 'invalid-input', 'batch-contract', 'unsupported', 'not-cloneable', 'aborted', 'worker-failed', 'disposed',
]); // prettier-ignore

/**
 * Opens a model on the first backend that runs it, and runs it right; or on the fastest of them. Each gets a worker of its own; the one that probes becomes
 * the first one's. The archive is downloaded once, by the first worker, and handed to each.
 * @throws `no-backend` with every reason; `aborted`; what is wrong with the model, its config or its handler
 */
export async function openModel(options: OpenOptions): Promise<Open> {
  return await new Opening(options).run();
}

/** A candidate at work. */
interface Contender {
  readonly candidate: Candidate;
  readonly connection: Connection;
  readonly opened: Opened;
  readonly proof: Backend['proof'];
  /** Milliseconds of a run. */
  readonly median: number | undefined;
}

class Opening {
  readonly #options: OpenOptions;
  readonly #workers = new Set<Connection>();
  readonly #skipped: Skipped[] = [];
  #archive!: Archive;
  #probe!: Probe;
  #built!: readonly CandidateName[];

  constructor(options: OpenOptions) {
    this.#options = options;
  }

  async run(): Promise<Open> {
    const { signal } = this.#options;
    const abort = (): void => this.#closeAll(abortion(signal!));
    signal?.addEventListener('abort', abort);
    try {
      const first = await this.#start();
      await this.#look(first);
      return await this.#choose(first);
    } catch (error) {
      this.#closeAll(asTabServeError(error));
      throw error;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  async #start(): Promise<Connection> {
    const { factory, signal, startupTimeout, onProgress } = this.#options;
    const connection = await Connection.start(factory, { signal, startupTimeout, onEvent: (event) => event.type === 'progress' && onProgress?.(event.progress) });
    this.#workers.add(connection);
    return connection;
  }

  #closeAll(error: TabServeError): void {
    for (const worker of this.#workers) worker.close(error);
  }

  async #look(worker: Connection): Promise<void> {
    const { archive, source, config, onArchive, onProbe, story } = this.#options;
    const since = performance.now();
    const [{ probe, built }, loaded] = await Promise.all([worker.call(({ probe }) => probe()), archive ?? worker.call(({ load }) => load({ source, config }))]);
    this.#archive = loaded;
    this.#probe = probe;
    this.#built = built;
    onArchive(loaded);
    onProbe(probe);
    story.tell(archive ? 'The browser was probed; the archive is at hand.' : `The browser was probed, and ${loaded.url} loaded.`, since);
  }

  async #choose(first: Connection): Promise<Open> {
    const { prefer, only, demoted = [], measureBudget, story } = this.#options;
    const named = only ? [`${only.engine}/${only.name}` as CandidateName] : this.#options.backends;
    const proven = this.#archive.golden.length > 0 || this.#options.verify === 'reference';
    const { candidates, skipped } = chooseCandidates({ probe: this.#probe, built: this.#built, models: this.#archive.models, named, proven });
    this.#skipped.push(...skipped, ...demoted);
    let spare: Connection | undefined = first;
    let best: Contender | undefined;
    let cause: TabServeError | undefined;
    const inOrder = prefer === 'fastest' && !only ? await this.#bySpeed(candidates, first) : candidates;
    const measuring = inOrder === undefined;
    let deadline = Infinity;
    for (const candidate of inOrder ?? candidates) {
      if (demoted.some((one) => same(one, candidate))) continue;
      if (performance.now() >= deadline) {
        this.#skip(candidate, `It was not measured: the ${measureBudget} ms for that were used up.`);
        continue;
      }
      const since = performance.now();
      let timer: ReturnType<typeof setTimeout> | undefined;
      let worker: Connection | undefined;
      try {
        worker = spare ?? (await this.#start());
        spare = undefined;
        if (best) timer = setTimeout((late: Connection) => late.close(new TabServeError('timeout', `The ${measureBudget} ms for measuring were used up.`)), deadline - performance.now(), worker); // prettier-ignore
        const contender = await this.#try(candidate, worker, Math.min(measureBudget, deadline - performance.now()), measuring);
        story.tell(`${nameOf(candidate)} runs${told(contender)}.`, since);
        if (!measuring || contender.median === undefined) return this.#done(contender);
        if (!best) deadline = performance.now() + measureBudget;
        best = this.#faster(best, contender);
      } catch (error) {
        cause = asTabServeError(error);
        story.tell(`${nameOf(candidate)} does not run: ${cause.message}`, since);
        if (FATAL.has(cause.code) && !best) throw this.#withReasons(cause);
        this.#skip(candidate, cause.message);
        worker?.close(cause);
      } finally {
        clearTimeout(timer);
      }
    }
    if (best) return this.#done(best);
    throw new TabServeError('no-backend', `No backend can run ${this.#archive.manifest.model.modelName}. ${tell(this.#skipped)}`, { cause, stage: 'initialize' });
  }

  /** A candidate may be skipped twice: as one to be tried last, and for what the trial has shown. The later counts. */
  #skip(candidate: Candidate, reason: string): void {
    const before = this.#skipped.findIndex((one) => same(one, candidate));
    if (before >= 0) this.#skipped.splice(before, 1);
    this.#skipped.push({ ...candidate, reason });
  }

  #withReasons(cause: TabServeError): TabServeError {
    const failed = this.#skipped.filter((one) => this.#tried.has(nameOf(one)));
    if (failed.length === 0) return cause;
    return new TabServeError(cause.code, `${cause.message} Before that: ${tell(failed)}`, { cause: cause.cause, stage: cause.stage });
  }

  readonly #tried = new Set<CandidateName>();

  #faster(best: Contender | undefined, contender: Contender): Contender {
    if (!best) return contender;
    const [winner, loser] = contender.median! < best.median! ? [contender, best] : [best, contender];
    this.#skip(loser.candidate, `It is slower: ${loser.median!.toFixed(1)} ms a run, ${nameOf(winner.candidate)} takes ${winner.median!.toFixed(1)} ms.`);
    loser.connection.close(new TabServeError('disposed', 'Another backend is faster.'));
    return winner;
  }

  #done({ candidate, connection, opened, proof, median }: Contender): Open {
    connection.patience = this.#options.responseTimeout;
    const skipped = this.#skipped.filter((one) => !same(one, candidate));
    return { connection, backend: { ...candidate, threads: opened.threads, proof, ...(median !== undefined && { median }), skipped } };
  }

  // ── One candidate ────────────────────────────────────────────────────────────────────────────

  async #try(candidate: Candidate, worker: Connection, budget: number, measuring: boolean): Promise<Contender> {
    this.#tried.add(nameOf(candidate));
    const opened = await this.#openOn(worker, candidate);
    const known = await this.#recall(candidate, opened.version, worker);
    let verdict: Verdict = known ?? { fingerprint: '' };
    if (opened.golden === 0 && !isReference(candidate) && (this.#options.verify === 'reference' || opened.suspicion)) {
      if (!verdict.compared) verdict = { ...verdict, ...(await this.#compare(candidate, worker)) };
      if (verdict.wrong !== undefined) {
        await this.#remember(candidate, opened.version, worker, verdict);
        throw new TabServeError('backend-wrong', `It computes wrongly: compared with WASM, ${verdict.wrong}.`);
      }
    }
    if (measuring && verdict.median === undefined) verdict = { ...verdict, median: (await worker.call(({ measure }) => measure(budget)))?.median };
    if (verdict.compared !== known?.compared || verdict.median !== known?.median) await this.#remember(candidate, opened.version, worker, verdict);
    const proof = opened.golden > 0 ? 'golden' : verdict.compared ? 'reference' : 'none';
    return { candidate, connection: worker, opened, proof, median: verdict.median };
  }

  async #openOn(worker: Connection, candidate: Candidate): Promise<Opened> {
    const { handler, assets, onArchive } = this.#options;
    this.#archive = await worker.call(({ loadModel }) => loadModel(this.#archive, candidate.engine));
    onArchive(this.#archive);
    return await worker.call(({ open }) => open({ candidate: nameOf(candidate), archive: this.#archive, handler, assets }));
  }

  /** Runs the model on the same made-up input here and on WASM, in a second worker. Without one, or without an input, nothing is known. */
  async #compare(candidate: Candidate, worker: Connection): Promise<Pick<Verdict, 'compared' | 'wrong'>> {
    const { story } = this.#options;
    const since = performance.now();
    const reference: Candidate = { engine: candidate.engine, name: 'wasm' };
    const mine = await worker.call(({ sample }) => sample());
    if (!mine) return {};
    let second: Connection | undefined;
    try {
      second = await this.#start();
      await this.#openOn(second, reference);
      const right = await second.call(({ sample }) => sample(mine.feeds));
      const { wrong, error } = compareOutputs(mine.outputs, right!.outputs);
      story.tell(`${nameOf(candidate)} was compared with ${nameOf(reference)}: largest difference ${error.toPrecision(3)}.`, since);
      return { compared: true, wrong };
    } catch (error) {
      if (worker.error) throw worker.error;
      story.tell(`${nameOf(candidate)} could not be compared with ${nameOf(reference)}: ${asTabServeError(error).message}`, since);
      return {};
    } finally {
      second?.close(new TabServeError('disposed', 'The comparison is done.'));
    }
  }

  // ── What was found out at an earlier visit ───────────────────────────────────────────────────

  /** Fastest first; undefined where the speed of one is not known. */
  async #bySpeed(candidates: readonly Candidate[], worker: Connection): Promise<readonly Candidate[] | undefined> {
    const known = await Promise.all(candidates.map(async (candidate) => ({ candidate, median: (await this.#stored(candidate, worker))?.median })));
    if (known.some(({ median }) => median === undefined)) return undefined;
    return known.sort((a, b) => a.median! - b.median!).map(({ candidate }) => candidate);
  }

  async #stored(candidate: Candidate, worker: Connection): Promise<Verdict | undefined> {
    try {
      const verdict = await this.#options.verdicts.get(this.#key(candidate));
      const fingerprint = verdict && (await this.#fingerprint(candidate, worker));
      return fingerprint !== undefined && verdict!.fingerprint.startsWith(fingerprint) ? verdict : undefined;
    } catch {
      return undefined;
    }
  }

  async #recall(candidate: Candidate, version: string, worker: Connection): Promise<Verdict | undefined> {
    const verdict = await this.#stored(candidate, worker);
    return verdict?.fingerprint.endsWith(`|${version}`) ? verdict : undefined;
  }

  async #remember(candidate: Candidate, version: string, worker: Connection, verdict: Verdict): Promise<void> {
    try {
      const fingerprint = await this.#fingerprint(candidate, worker);
      if (fingerprint !== undefined) await this.#options.verdicts.set(this.#key(candidate), { ...verdict, fingerprint: `${fingerprint}${version}` });
    } catch (error) {
      this.#options.story.tell(`The verdict on ${nameOf(candidate)} could not be kept: ${String(error)}`);
    }
  }

  #key(candidate: Candidate): string {
    return `${nameOf(candidate)} ${this.#archive.url}`;
  }

  /** Model, config, adapter and browser; the engine's version follows. Undefined where the model's hash cannot be had. */
  async #fingerprint(candidate: Candidate, worker: Connection): Promise<string | undefined> {
    this.#archive = await worker.call(({ loadModel }) => loadModel(this.#archive, candidate.engine));
    this.#options.onArchive(this.#archive);
    const hash = await worker.call((methods) => methods.hash(this.#archive, candidate.engine));
    if (hash === undefined) return undefined;
    const { webgpu, webgl } = this.#probe;
    const adapter = candidate.name === 'webgpu' ? webgpu.available && webgpu.description : candidate.name === 'webgl' ? webgl.available && webgl.renderer : this.#probe.cores;
    return [hash, JSON.stringify(this.#archive.config), adapter, navigator.userAgent, ''].join('|');
  }
}

/** WASM, and plain JavaScript: right on everything. */
function isReference({ name }: Candidate): boolean {
  return name === 'wasm' || name === 'cpu';
}

function same(a: Candidate, b: Candidate): boolean {
  return a.engine === b.engine && a.name === b.name;
}

function nameOf({ engine, name }: Candidate): CandidateName {
  return `${engine}/${name}` as CandidateName;
}

function told({ opened, proof, median }: Contender): string {
  const right =
    proof === 'golden' ? `, right on ${opened.golden} golden (largest difference ${opened.error.toPrecision(3)})` : proof === 'reference' ? ', right by comparison' : '';
  return `${right}${median === undefined ? '' : `, ${median.toFixed(2)} ms a run`}`;
}

function tell(reasons: readonly Skipped[]): string {
  return reasons.map(({ engine, name, reason }) => `${engine}/${name}: ${reason}`).join(' ');
}
