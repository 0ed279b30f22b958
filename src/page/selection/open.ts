import { partsOf, type Archive, type ModelConfig, type Progress } from '../../contract/archive.js';
import {
  candidateName,
  describeCandidate,
  isSameCandidate,
  type Backend,
  type BackendName,
  type Candidate,
  type CandidateName,
  type GraphNodes,
  type Probe,
  type Skipped,
} from '../../contract/backends.js';
import { asTabServeError, TabServeError } from '../../contract/errors.js';
import type { DownloadSettings } from '../../contract/downloads.js';
import type { RemoteServer } from '../../contract/remote.js';
import { servingOf } from '../../contract/settings.js';
import type { LargerRun, LoadRequest } from '../../contract/wire.js';
import { describeTime } from '../../contract/describe-value.js';
import { abortError } from '../../shared/abort.js';
import { browserClock, type Clock } from '../../shared/clock.js';
import type { Connection } from '../workers/connection.js';
import type { OpenedWorker } from '../workers/slot.js';
import type { PrestartedWorker, WorkerFactory } from '../workers/worker-factory.js';
import { canAnotherHelp, chooseBackend, isMissingScript } from './choose.js';
import { OpeningWorkers, type CompiledFiles } from './opening-workers.js';
import { planCandidates } from './order.js';
import { firstCandidates, needsGpus } from './order.js';
import { SkipList } from './choose.js';
import { threadCounts } from './order.js';
import type { ExcludedPrecision } from './precisions.js';
import { Trial, type Contender } from './trial.js';
import { VerdictCache } from './verdict-cache.js';
import type { VerdictStore } from './verdicts.js';

export interface OpenOptions {
  readonly factory: WorkerFactory;
  /** The first worker, if it was made already. */
  readonly prestarted?: PrestartedWorker | undefined;
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
 * Opens a model on the first backend that runs it correctly, or on the fastest of them. Each candidate gets a worker of
 * its own; the worker that probes the browser becomes that of the first candidate. The archive is downloaded once, by
 * the first worker, and handed to the others.
 * @throws `no-backend` with every reason; `aborted`; what is wrong with the model, its config or its handler
 */
export async function openModel(options: OpenOptions): Promise<OpenedWorker> {
  const { signal } = options;
  // What the app aborts once the model is open is no business of the comparisons that follow.
  const opening = new AbortController();
  const workers = new OpeningWorkers({ ...options, signal: opening.signal });
  const abort = (): void => {
    opening.abort(signal!.reason);
    workers.closeAll(abortError(signal!));
  };
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort);
  try {
    return await openWith(workers, { ...options, signal: opening.signal });
  } catch (error) {
    workers.closeAll(asTabServeError(error));
    throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

async function openWith(workers: OpeningWorkers, options: OpenOptions): Promise<OpenedWorker> {
  const {
    only,
    first,
    backends,
    demoted,
    verify,
    prefer,
    measureBudget,
    signal,
    clock = browserClock,
    log,
    warn,
  } = options;
  let spare: Connection | undefined = await workers.start();
  const { archive, probe, built } = await probeAndLoad(spare, options);
  const serving = (workers.serving = servingOf(archive.config));
  spare.timeout = serving.startupTimeout;

  const isMeasuring = isMeasured(options);
  const { candidates, skipped } = planCandidates({
    probe,
    built,
    archive,
    named: backends,
    hasServer: options.remote !== undefined,
    proven: verify === 'reference' || partsOf(archive).every((part) => part.archive.golden.length > 0),
    demoted,
    measured: prefer === 'fastest',
    only,
    first,
    threads: isMeasuring ? threadCounts(probe, archive.config, serving.maxWorkers) : [],
  });
  const skips = new SkipList(skipped);
  const verdicts = new VerdictCache({ store: options.verdicts, probe, archive, log, signal, clock });
  const start = (until: AbortSignal): Promise<Connection> => workers.start(until);
  const onExclude = (candidate: Candidate, { precision, reason }: ExcludedPrecision): void =>
    skips.add(candidate, reason, precision);
  const trial = new Trial({ ...options, archive, probe, verdicts, trusted: only, start, onExclude });
  const contender = await chooseBackend<Contender>({
    modelName: archive.manifest.model.modelName,
    candidates,
    skips,
    measureBudget: isMeasuring ? measureBudget : undefined,
    cached: isMeasuring ? await verdicts.findAll(candidates) : new Map(),
    attempt: async function attempt(candidate, budget, until, earlier?: TabServeError): Promise<Contender> {
      const since = performance.now();
      const worker = spare ?? (await start(until));
      spare = undefined;
      const close = (): void => worker.close(until.reason as TabServeError);
      until.addEventListener('abort', close);
      try {
        const contender = await trial.run(candidate, worker, budget);
        log(`${describeCandidate(contender.candidate)} runs${describe(contender)}.`, since);
        return contender;
      } catch (error) {
        const failure = asTabServeError(error);
        workers.retire(worker, failure);
        if (until.aborted || signal?.aborted) throw error;
        // That no further precision is there says less than why the one before it does not run.
        const isNoFurther = failure.code === 'backend-failed' && failure.stage === 'load';
        if (!(await trial.exclude(candidate, failure))) throw (isNoFurther && earlier) || error;
        if (canAnotherHelp(failure)) earlier ??= failure;
      } finally {
        until.removeEventListener('abort', close);
      }
      return await attempt(candidate, budget, until, earlier);
    },
    dismiss: ({ connection }) =>
      workers.retire(connection, new TabServeError('disposed', 'Another backend is faster.')),
    onFailure: async (candidate, error) => {
      // A server that is down today says nothing about tomorrow, nor does a script that is missing.
      if (candidate.engine !== 'remote' && !isMissingScript(error)) await verdicts.saveFailure(candidate, error);
    },
    log,
    clock,
    signal,
  });

  workers.finish();
  const { candidate, connection, opened, precision, proof, largestError } = contender;
  connection.timeout = serving.responseTimeout;
  const median = contender.median ?? (first && isSameCandidate(first, candidate) ? first.median : undefined);
  const { threads, nodes, batchesAtOnce } = opened;
  if (nodes && nodes.onWasm > 0) warn(describeFallback(candidate, nodes));
  const compareLarger = async (runs: readonly LargerRun[]): Promise<void> => {
    try {
      await trial.compareLarger(contender, runs);
    } catch (error) {
      connection.close(asTabServeError(error));
      throw error;
    }
  };
  return {
    connection,
    batchesAtOnce,
    compareLarger,
    backend: {
      ...candidate,
      threads,
      ...(nodes && { nodes }),
      ...(precision !== undefined && { precision }),
      proof,
      ...(largestError !== undefined && { largestError }),
      ...(median !== undefined && { median }),
      skipped: skips.without(candidate),
    },
  };
}

/** Returns whether every candidate is measured: not if this client has chosen before. */
function isMeasured({ prefer, only, first }: OpenOptions): boolean {
  return prefer === 'fastest' && !only && !first;
}

/**
 * Probes the browser and downloads the archive, at the same time. Starts the engine, as soon as it is certain which one
 * is tried first.
 */
async function probeAndLoad(
  worker: Connection,
  options: OpenOptions,
): Promise<{ archive: Archive; probe: Probe; built: readonly CandidateName[] }> {
  const { archive, only, backends, source, config, handler, download } = options;
  const since = performance.now();
  const gpus = needsGpus(backends, only);
  // After a loss the GPU may be another one, or none, and later there again.
  const isLost = archive !== undefined && only === undefined;
  const known = isLost ? undefined : lastProbe;
  const probing = worker.call(({ probe }) => probe(known, gpus));
  const loading = archive ?? worker.call(({ load }) => load({ source, config, handler, download }));
  const preparing = probing.then((found) => !archive && prepareEngine(worker, options, found));
  const [{ probe, built }, loaded] = await Promise.all([probing, loading, preparing]);
  if (gpus) lastProbe = isLost ? undefined : probe;
  options.onArchive(loaded);
  options.onProbe(probe);
  options.log(
    `The browser was probed${known ? ' before' : ''}${archive ? '; the archive was downloaded before' : `, and ${loaded.url} loaded`}.`,
    since,
  );
  return { archive: loaded, probe, built };
}

/**
 * Lets a worker that is reading the archive start the engine of the first candidate. Cached verdicts may change the
 * order, so where they matter, nothing is certain.
 */
function prepareEngine(
  worker: Connection,
  options: OpenOptions,
  found: { readonly probe: Probe; readonly built: readonly CandidateName[] },
): void {
  const { backends: named, demoted, first, prefer, source, assets, remote, download, compiled } = options;
  if (prefer === 'fastest') return;
  const choice = { ...found, named, hasServer: remote !== undefined, demoted, first };
  const requests = Object.entries(firstCandidates(choice, source)).map(([formats, candidate]) => {
    return [formats, { candidate, assets, remote, download, compiled: compiled.find(candidate) }] as const;
  });
  worker.tell(({ prepare }) => prepare(Object.fromEntries(requests)));
}

function describeFallback(candidate: Candidate, { total, onWasm, operators }: GraphNodes): string {
  return `${candidateName(candidate)} runs ${total - onWasm} of the ${total} nodes of the model's graph. WASM runs the other ${onWasm} (${operators.join(', ')}), with copies between the two.`;
}

function describe({ opened, proof, median }: Contender): string {
  const proven =
    proof === 'golden'
      ? `, correct on ${opened.golden} golden example${opened.golden === 1 ? '' : 's'} (largest difference ${opened.error.toPrecision(3)})`
      : proof === 'reference'
        ? ', correct by comparison'
        : '';
  return `${proven}${median === undefined ? '' : `, ${describeTime(median)} a run`}`;
}
