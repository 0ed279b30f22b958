import { partsOf, type Archive, type ModelConfig, type Progress } from '../../contract/archive.js';
import {
  candidateName,
  isSameCandidate,
  type Backend,
  type BackendName,
  type CandidateName,
  type Probe,
  type Skipped,
} from '../../contract/backends.js';
import { asTabServeError, type TabServeError } from '../../contract/errors.js';
import type { DownloadSettings } from '../../contract/downloads.js';
import type { RemoteServer } from '../../contract/remote.js';
import { servingOf, type Serving } from '../../contract/settings.js';
import type { LoadRequest } from '../../contract/wire.js';
import { abortError } from '../../shared/abort.js';
import { ProgressSum } from '../progress.js';
import { browserClock, type Clock } from '../../shared/clock.js';
import { Connection } from '../workers/connection.js';
import type { OpenedWorker } from '../workers/slot.js';
import type { WorkerFactory } from '../workers/start.js';
import { chooseBackend } from './choose.js';
import type { CompiledFiles } from './compiled-files.js';
import { planCandidates } from './order.js';
import { SkipList } from './skip-list.js';
import { Trial, type Contender } from './trial.js';
import { VerdictCache } from './verdict-cache.js';
import type { VerdictStore } from './verdicts.js';

export interface OpenOptions {
  readonly factory: WorkerFactory;
  readonly source: LoadRequest['source'];
  readonly handler: string | undefined;
  readonly backends: readonly (BackendName | CandidateName)[] | undefined;
  /** The first candidate that runs the model, or the one with the lowest median. */
  readonly prefer: 'first' | 'fastest';
  /** Milliseconds that measuring may take, beyond what opening the first candidate takes. */
  readonly measureBudget: number;
  /** Whether every candidate without a golden example is compared with WASM. */
  readonly verify: 'golden' | 'reference';
  readonly verdicts: VerdictStore;
  readonly config: ModelConfig | undefined;
  readonly assets: string | undefined;
  /** The server of models that the app has named. */
  readonly remote?: RemoteServer | undefined;
  readonly download: DownloadSettings;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((progress: Progress) => void) | undefined;
  /** Candidates that were demoted after losses, with reasons. */
  readonly demoted?: readonly Skipped[];
  /** The only backend that is wanted. */
  readonly only?: Backend;
  /** The backend to try first; its reasons for skipping others still hold. */
  readonly first?: Backend;
  /** An archive that the page has already. */
  readonly archive: Archive | undefined;
  /** Called with the archive whenever more of it was downloaded, so that no later attempt downloads that again. */
  readonly onArchive: (archive: Archive) => void;
  readonly onProbe: (probe: Probe) => void;
  /** The compiled engines of this client's earlier workers, and of the page's other clients. */
  readonly compiled: CompiledFiles;
  /** Called with what is wrong and stops nothing, once by each worker. */
  readonly warn: (message: string) => void;
  /** @param since when it began, by `performance.now()`, if it took time */
  readonly log: (message: string, since?: number) => void;
  /** @default the browser's */
  readonly clock?: Clock;
}

/** The browser's capabilities, as the first worker of this page found them. They are the same for every client. */
let lastProbe: Probe | undefined;

/**
 * Opens a model on the first backend that runs it correctly, or on the fastest of them. Each candidate gets a worker of its own; the worker that
 * probes the browser becomes that of the first candidate. The archive is downloaded once, by the first worker, and handed to the others.
 * @throws `no-backend` with every reason; `aborted`; what is wrong with the model, its config or its handler
 */
export async function openModel(options: OpenOptions): Promise<OpenedWorker> {
  const workers = new Workers(options);
  const { signal } = options;
  const abort = (): void => workers.closeAll(abortError(signal!));
  signal?.addEventListener('abort', abort);
  try {
    return await openWith(workers, options);
  } catch (error) {
    workers.closeAll(asTabServeError(error));
    throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

async function openWith(workers: Workers, options: OpenOptions): Promise<OpenedWorker> {
  const { only, first, backends, demoted, verify, prefer, measureBudget, signal, log, clock = browserClock } = options;
  let spare: Connection | undefined = await workers.start();
  const { archive, probe, built } = await probeAndLoad(spare, options);
  const serving = (workers.serving = servingOf(archive.config));
  spare.timeout = serving.startupTimeout;

  const { candidates, skipped } = planCandidates({
    probe,
    built,
    archive,
    named: backends,
    hasServer: options.remote !== undefined,
    proven: verify === 'reference' || partsOf(archive).every((part) => part.archive.golden.length > 0),
    demoted,
    only,
    first,
  });
  const skips = new SkipList(skipped);
  const verdicts = new VerdictCache({ store: options.verdicts, probe, archive, log, signal, clock });
  const start = (until: AbortSignal): Promise<Connection> => workers.start(until);
  const trial = new Trial({ ...options, archive, probe, verdicts, trusted: only, start });
  const isMeasuring = prefer === 'fastest' && !only && !first;
  const contender = await chooseBackend<Contender>({
    modelName: archive.manifest.model.modelName,
    candidates,
    skips,
    measureBudget: isMeasuring ? measureBudget : undefined,
    cached: isMeasuring ? await verdicts.findAll(candidates) : new Map(),
    attempt: async (candidate, budget, until) => {
      const since = performance.now();
      const worker = spare ?? (await start(until));
      spare = undefined;
      const close = (): void => worker.close(until.reason as TabServeError);
      until.addEventListener('abort', close);
      try {
        const contender = await trial.run(candidate, worker, budget);
        log(`${candidateName(candidate)} runs${describe(contender)}.`, since);
        return contender;
      } catch (error) {
        worker.close(asTabServeError(error));
        throw error;
      } finally {
        until.removeEventListener('abort', close);
      }
    },
    onFailure: async (candidate, error) => {
      // A server that is down today says nothing about tomorrow.
      if (candidate.engine !== 'remote') await verdicts.saveFailure(candidate, error);
    },
    log,
    clock,
    signal,
  });

  workers.finish();
  const { candidate, connection, opened, precision, proof, largestError } = contender;
  connection.timeout = serving.responseTimeout;
  const median = contender.median ?? (first && isSameCandidate(first, candidate) ? first.median : undefined);
  return {
    connection,
    backend: {
      ...candidate,
      threads: opened.threads,
      ...(precision !== undefined && { precision }),
      proof,
      ...(largestError !== undefined && { largestError }),
      ...(median !== undefined && { median }),
      skipped: skips.without(candidate),
    },
  };
}

/** Probes the browser and downloads the archive, at the same time. */
async function probeAndLoad(
  worker: Connection,
  { archive, only, source, config, handler, download, onArchive, onProbe, log }: OpenOptions,
): Promise<{ archive: Archive; probe: Probe; built: readonly CandidateName[] }> {
  const since = performance.now();
  // After a loss the GPU may be another one, or none.
  const known = archive && !only ? undefined : lastProbe;
  const [{ probe, built }, loaded] = await Promise.all([
    worker.call(({ probe }) => probe(known)),
    archive ?? worker.call(({ load }) => load({ source, config, handler, download })),
  ]);
  lastProbe = probe;
  onArchive(loaded);
  onProbe(probe);
  log(
    `The browser was probed${known ? ' before' : ''}${archive ? '; the archive was downloaded before' : `, and ${loaded.url} loaded`}.`,
    since,
  );
  return { archive: loaded, probe, built };
}

/** The workers of one opening. If it fails or is aborted, all of them are closed. */
class Workers {
  readonly #options: Pick<OpenOptions, 'factory' | 'signal' | 'warn' | 'compiled'>;
  /** Counts the files of all workers together. */
  readonly #progress: ProgressSum | undefined;
  readonly #started = new Set<Connection>();
  /** The caller's settings, until the archive's own are known. */
  serving: Serving;

  constructor(options: OpenOptions) {
    this.#options = options;
    this.#progress = options.onProgress && new ProgressSum(options.onProgress);
    this.serving = servingOf(options.archive?.config ?? options.config ?? {});
  }

  /** @param until ends the start too */
  async start(until?: AbortSignal): Promise<Connection> {
    const { factory, signal, warn, compiled } = this.#options;
    const connection = await Connection.start(factory, {
      signal: AbortSignal.any([signal, until].filter((one) => one !== undefined)),
      startupTimeout: this.serving.startupTimeout,
      onEvent: (event) => {
        if (event.type === 'progress') this.#progress?.add(event);
        else if (event.type === 'warn') warn(event.message);
        else if (event.type === 'compiled') compiled.add(event.candidate, event.compiled);
      },
    });
    this.#started.add(connection);
    return connection;
  }

  /** A model is open: reports that everything is there. */
  finish(): void {
    this.#progress?.finish();
  }

  closeAll(error: TabServeError): void {
    for (const worker of this.#started) worker.close(error);
  }
}

function describe({ opened, proof, median }: Contender): string {
  const proven =
    proof === 'golden'
      ? `, correct on ${opened.golden} golden examples (largest difference ${opened.error.toPrecision(3)})`
      : proof === 'reference'
        ? ', correct by comparison'
        : '';
  return `${proven}${median === undefined ? '' : `, ${median.toFixed(2)} ms a run`}`;
}
