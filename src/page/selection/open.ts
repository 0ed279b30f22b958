import type { ModelConfig } from '../../contract/archive.js';
import { partsOf } from '../../contract/archive-parts.js';
import {
  candidateName,
  describeCandidate,
  isSameCandidate,
  type BackendName,
  type Candidate,
  type CandidateName,
  type GraphNodes,
  type PowerPreference,
} from '../../contract/backends.js';
import { asTabServeError, TabServeError } from '../../contract/errors.js';
import type { DownloadSettings } from '../../contract/downloads.js';
import type { RemoteServer } from '../../contract/remote.js';
import { servingOf } from '../../contract/settings.js';
import type { LargerRun, LoadRequest } from '../../contract/wire.js';
import { describeTime } from '../../contract/describe-value.js';
import { abortError } from '../../shared/abort.js';
import { browserClock } from '../../shared/clock.js';
import type { Connection } from '../workers/connection.js';
import type { OpenedWorker } from '../workers/slot.js';
import type { PrestartedWorker } from '../workers/worker-factory.js';
import { canAnotherHelp, chooseBackend, isMissingScript, SkipList } from './choose.js';
import { probeAndLoad } from './first-worker.js';
import { OpeningWorkers, type CompiledFiles } from './opening-workers.js';
import { planCandidates, threadCounts } from './order.js';
import type { ExcludedPrecision } from './precisions.js';
import { Trial, type Contender } from './trial.js';
import { VerdictCache } from './verdict-cache.js';
import type { VerdictStore } from './verdicts.js';
import type { OpenRequest, WorkerOpener } from './worker-opener.js';

/** What the worker needs to load a model. */
export interface ModelOptions {
  readonly source: LoadRequest['source'];
  readonly handler: string | undefined;
  readonly config: ModelConfig | undefined;
  readonly assets: string | undefined;
  /** The server of models that the app has named. */
  readonly remote: RemoteServer | undefined;
  /** Which GPU to ask the browser for; undefined for the default. */
  readonly powerPreference: PowerPreference | undefined;
  readonly download: DownloadSettings;
}

/** How a backend is chosen. */
export interface Choice {
  readonly backends: readonly (BackendName | CandidateName)[] | undefined;
  /** The first candidate that runs the model, or the one with the lowest median. */
  readonly prefer: 'first' | 'fastest';
  /** Milliseconds that measuring may take, beyond what opening the first candidate takes. */
  readonly measureBudget: number;
  /** Whether every candidate without a golden example is compared with WASM. */
  readonly verify: 'golden' | 'reference';
  readonly verdicts: VerdictStore;
}

/** One opening of a model. */
export interface Opening {
  readonly opener: WorkerOpener;
  /** The compiled engines of this client's earlier workers, and of the page's other clients. */
  readonly compiled: CompiledFiles;
  readonly model: ModelOptions;
  readonly choice: Choice;
  readonly request: OpenRequest;
  /** The first worker, if it was made already. */
  readonly prestarted: PrestartedWorker | undefined;
}

/**
 * Opens a model on the first backend that runs it correctly, or on the fastest of them. Each candidate gets a worker of
 * its own; the worker that probes the browser becomes that of the first candidate. The archive is downloaded once, by
 * the first worker, and handed to the others.
 * @throws `no-backend` with every reason; `aborted`; what is wrong with the model, its config or its handler
 */
export async function openModel(opening: Opening): Promise<OpenedWorker> {
  const { opener, compiled, model, request, prestarted } = opening;
  const { signal } = request;
  // An abort after the model is open does not concern the comparisons that follow.
  const ending = new AbortController();
  const workers = new OpeningWorkers({
    factory: opener.factory,
    prestarted,
    compiled,
    config: opener.archive?.config ?? model.config,
    warn: opener.events.warn,
    onProgress: request.onProgress,
    signal: ending.signal,
  });
  const abort = (): void => {
    ending.abort(signal.reason);
    workers.closeAll(abortError(signal));
  };
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort);
  try {
    return await openWith(workers, { ...opening, request: { ...request, signal: ending.signal } });
  } catch (error) {
    workers.closeAll(asTabServeError(error));
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

async function openWith(workers: OpeningWorkers, opening: Opening): Promise<OpenedWorker> {
  const { opener, compiled, model, choice, request } = opening;
  const { only, first, demoted, signal } = request;
  const { verify, prefer } = choice;
  const { log, warn } = opener.events;
  let spare: Connection | undefined = await workers.start();
  const { archive, probe, built } = await probeAndLoad(spare, opening);
  const serving = (workers.serving = servingOf(archive.config));
  spare.timeout = serving.startupTimeout;

  const isMeasuring = isMeasured(opening);
  const { candidates, skipped } = planCandidates({
    probe,
    built,
    archive,
    named: choice.backends,
    hasServer: model.remote !== undefined,
    proven: verify === 'reference' || partsOf(archive).every((part) => part.archive.golden.length > 0),
    demoted,
    measured: prefer === 'fastest',
    only,
    first,
    threads: isMeasuring ? threadCounts(probe, archive.config, serving.maxWorkers) : [],
  });
  const skips = new SkipList(skipped);
  const verdicts = new VerdictCache({ store: choice.verdicts, probe, archive, log, signal, clock: browserClock });
  const start = (until: AbortSignal): Promise<Connection> => workers.start(until);
  const onExclude = (candidate: Candidate, { precision, reason }: ExcludedPrecision): void =>
    skips.add(candidate, reason, precision);
  const trial = new Trial({
    ...model,
    archive,
    onArchive: (archive) => (opener.archive = archive),
    probe,
    compiled,
    verify,
    verdicts,
    trusted: only,
    start,
    onExclude,
    log,
    warn,
  });
  const contender = await chooseBackend<Contender>({
    modelName: archive.manifest.model.modelName,
    candidates,
    skips,
    measureBudget: isMeasuring ? choice.measureBudget : undefined,
    cached: isMeasuring ? await verdicts.findAll(candidates) : new Map(),
    attempt: async function attempt(candidate, budget, until, earlier?: TabServeError): Promise<Contender> {
      const since = performance.now();
      const worker = spare ?? (await start(until));
      spare = undefined;
      const close = (): void => worker.close(until.reason as TabServeError);
      until.addEventListener('abort', close);
      try {
        const contender = await trial.run(candidate, worker, budget, !budget && candidate === candidates.at(-1));
        log(`${describeCandidate(contender.candidate)} runs${describe(contender)}.`, since);
        return contender;
      } catch (error) {
        const failure = asTabServeError(error);
        workers.retire(worker, failure);
        if (until.aborted || signal.aborted) throw error;
        // The reason why the last precision does not run says more than that there is no other one.
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
    clock: browserClock,
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
function isMeasured({ choice, request }: Opening): boolean {
  return choice.prefer === 'fastest' && !request.only && !request.first;
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
