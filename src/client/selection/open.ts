import { chooseCandidates, nameOf, type Candidate } from './candidates.js';
import type { Archive, ModelConfig, Progress } from '../../contract/archive.js';
import type { Backend, BackendName, CandidateName, Probe, Skipped } from '../../contract/backends.js';
import { asTabServeError, TabServeError, type ErrorCode } from '../../contract/errors.js';
import { servingOf, type Serving } from '../../contract/settings.js';
import { abortion } from '../abort.js';
import { sumProgress } from '../progress.js';
import { Connection, type WorkerFactory } from '../workers/connection.js';
import type { Story } from '../log.js';
import { Memory, type Kept } from './memory.js';
import { Trial, type Contender } from './trial.js';
import type { VerdictStore } from './verdicts.js';

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
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((progress: Progress) => void) | undefined;
  /** Candidates that were given up, with reasons. */
  readonly demoted?: readonly Skipped[];
  /** The only one that will do. */
  readonly only?: Backend;
  /** The one to begin with, whose reasons for skipping others still stand. */
  readonly first?: Backend;
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

/** What a worker of this page has seen of the browser: the same for every client. */
let seen: Probe | undefined;

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

class Opening {
  readonly #options: OpenOptions;
  /** Counts the files of every worker that is started here. */
  readonly #onProgress: ReturnType<typeof sumProgress> | undefined;
  readonly #workers = new Set<Connection>();
  readonly #skipped: Skipped[] = [];
  readonly #tried = new Set<CandidateName>();
  #archive!: Archive;
  #probe!: Probe;
  #built!: readonly CandidateName[];
  #memory!: Memory;

  constructor(options: OpenOptions) {
    this.#options = options;
    this.#onProgress = options.onProgress && sumProgress(options.onProgress);
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

  /** Those of the archive, once it is there; the caller's are among them. */
  get #serving(): Serving {
    return servingOf(this.#archive?.config ?? this.#options.config ?? {});
  }

  /** @param until ends the start too */
  async #start(until?: AbortSignal): Promise<Connection> {
    const { factory } = this.#options;
    const { startupTimeout } = this.#serving;
    const signal = AbortSignal.any([this.#options.signal, until].filter((one) => one !== undefined));
    const connection = await Connection.start(factory, {
      signal,
      startupTimeout,
      onEvent: (event) => event.type === 'progress' && this.#onProgress?.(event),
    });
    this.#workers.add(connection);
    return connection;
  }

  #closeAll(error: TabServeError): void {
    for (const worker of this.#workers) worker.close(error);
  }

  async #look(worker: Connection): Promise<void> {
    const { archive, only, source, config, verdicts, onArchive, onProbe, story } = this.#options;
    const since = performance.now();
    // After a loss the GPU may be another one, or none.
    const known = archive && !only ? undefined : seen;
    const [{ probe, built }, loaded] = await Promise.all([
      worker.call(({ probe }) => probe(known)),
      archive ?? worker.call(({ load }) => load({ source, config })),
    ]);
    this.#archive = loaded;
    this.#probe = seen = probe;
    this.#built = built;
    worker.patience = this.#serving.startupTimeout;
    this.#memory = new Memory({ verdicts, story, probe, archive: loaded });
    onArchive(loaded);
    onProbe(probe);
    story.tell(
      `The browser was probed${known ? ' before' : ''}${archive ? '; the archive is at hand' : `, and ${loaded.url} loaded`}.`,
      since,
    );
  }

  /** What to try, in order, and why some of it is not to be taken unproven. */
  #candidates(): { readonly candidates: readonly Candidate[]; readonly unproven: ReadonlyMap<CandidateName, string> } {
    const { only, first, backends, verify, demoted = [] } = this.#options;
    const named = only ? [nameOf(only)] : backends;
    const choice = { probe: this.#probe, built: this.#built, models: this.#archive.models, named };
    const { candidates, skipped } = chooseCandidates({
      ...choice,
      proven: this.#archive.golden.length > 0 || verify === 'reference',
    });
    const trusted = chooseCandidates(choice);
    const unproven = new Map(
      trusted.skipped
        .filter((one) => !trusted.candidates.some((other) => same(one, other)))
        .map((one) => [nameOf(one), one.reason]),
    );
    this.#skipped.push(...skipped, ...demoted);
    this.#skipped.push(...(first?.skipped ?? []).filter((one) => !this.#skipped.some((other) => same(one, other))));
    const left = candidates.filter((one) => !demoted.some((other) => same(one, other)));
    // Where every one was given up, each gets another chance.
    const all = left.length > 0 ? left : candidates;
    return {
      candidates: first ? all.toSorted((a, b) => Number(same(b, first)) - Number(same(a, first))) : all,
      unproven,
    };
  }

  async #choose(first: Connection): Promise<Open> {
    const { prefer, only, first: before, measureBudget, story } = this.#options;
    const measuring = prefer === 'fastest' && !only && !before;
    const { candidates, unproven } = this.#candidates();
    const trial = new Trial({
      ...this.#options,
      archive: this.#archive,
      unproven,
      memory: this.#memory,
      start: (until) => this.#start(until),
    });
    const kept = measuring ? await this.#memory.glance(candidates) : new Map<CandidateName, Kept>();
    const share = measureBudget / candidates.length;
    let spare: Connection | undefined = first;
    let best: Contender | undefined;
    let cause: TabServeError | undefined;
    let deadline = Infinity;
    for (const candidate of inOrder(candidates, kept)) {
      const earlier = kept.get(nameOf(candidate));
      if (best && earlier) {
        this.#skip(candidate, earlier.reason);
        continue;
      }
      const since = performance.now();
      const limit = new AbortController();
      const late = new TabServeError('timeout', `It was not measured: the ${measureBudget} ms for that were used up.`);
      const timer = best && setTimeout(() => limit.abort(late), deadline - since);
      let worker: Connection | undefined;
      try {
        if (since >= deadline) throw late;
        worker = spare ?? (await this.#start(limit.signal));
        spare = undefined;
        limit.signal.addEventListener('abort', () => worker!.close(late));
        this.#tried.add(nameOf(candidate));
        const contender = await trial.run(candidate, worker, measuring ? Math.min(share, deadline - since) : undefined);
        story.tell(`${nameOf(candidate)} runs${told(contender)}.`, since);
        if (!best && contender.median === undefined) return this.#done(contender);
        if (!best) deadline = performance.now() + measureBudget - share;
        // What was kept of the others is of another model or engine too.
        if (!contender.remembered) kept.clear();
        best = this.#faster(best, contender);
      } catch (error) {
        const { signal } = this.#options;
        if (signal?.aborted) throw abortion(signal);
        cause = asTabServeError(error);
        story.tell(`${nameOf(candidate)} does not run: ${cause.message}`, since);
        if (FATAL.has(cause.code) && !best) throw this.#withReasons(cause);
        if (measuring && !FATAL.has(cause.code)) await this.#memory.giveUp(candidate, cause);
        this.#skip(candidate, cause.message);
        worker?.close(cause);
      } finally {
        clearTimeout(timer);
      }
    }
    if (best) return this.#done(best);
    throw new TabServeError(
      'no-backend',
      `No backend can run ${this.#archive.manifest.model.modelName}. ${tell(this.#skipped)}`,
      { cause, stage: 'initialize' },
    );
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
    return new TabServeError(cause.code, `${cause.message} Before that: ${tell(failed)}`, {
      cause: cause.cause,
      stage: cause.stage,
    });
  }

  #faster(best: Contender | undefined, contender: Contender): Contender {
    if (!best) return contender;
    const [winner, loser] = (contender.median ?? Infinity) < best.median! ? [contender, best] : [best, contender];
    const took =
      loser.median === undefined ? 'could not be measured' : `is slower: ${loser.median.toFixed(1)} ms a run`;
    this.#skip(loser.candidate, `It ${took}, ${nameOf(winner.candidate)} takes ${winner.median!.toFixed(1)} ms.`);
    loser.connection.close(new TabServeError('disposed', 'Another backend is faster.'));
    return winner;
  }

  #done({ candidate, connection, opened, proof, ...contender }: Contender): Open {
    const { first } = this.#options;
    const median = contender.median ?? (first && same(first, candidate) ? first.median : undefined);
    connection.patience = this.#serving.responseTimeout;
    const skipped = this.#skipped.filter((one) => !same(one, candidate));
    return {
      connection,
      backend: { ...candidate, threads: opened.threads, proof, ...(median !== undefined && { median }), skipped },
    };
  }
}

/** Those that were measured at an earlier visit first, fastest first; then those of which nothing is known; then those that did not do. */
function inOrder(candidates: readonly Candidate[], kept: ReadonlyMap<CandidateName, Kept>): readonly Candidate[] {
  const rank = (candidate: Candidate): number => {
    const before = kept.get(nameOf(candidate));
    return before ? (before.median ?? Infinity) : Number.MAX_VALUE;
  };
  return candidates.toSorted((a, b) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b)));
}

function same(a: Candidate, b: Candidate): boolean {
  return a.engine === b.engine && a.name === b.name;
}

function told({ opened, proof, median }: Contender): string {
  const right =
    proof === 'golden'
      ? `, right on ${opened.golden} golden (largest difference ${opened.error.toPrecision(3)})`
      : proof === 'reference'
        ? ', right by comparison'
        : '';
  return `${right}${median === undefined ? '' : `, ${median.toFixed(2)} ms a run`}`;
}

function tell(reasons: readonly Skipped[]): string {
  return reasons.map(({ engine, name, reason }) => `${engine}/${name}: ${reason}`).join(' ');
}
