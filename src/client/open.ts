import { chooseCandidates } from '../backends/candidates.js';
import type { Archive, Backend, BackendName, CandidateName, ModelConfig, Probe, Progress, Skipped } from '../contract.js';
import { asTabServeError, TabServeError, type ErrorCode } from '../errors.js';
import { abortion } from './abort.js';
import { Connection, type WorkerFactory } from './connection.js';

export interface OpenOptions {
  readonly factory: WorkerFactory;
  readonly url: string;
  readonly handler: string | undefined;
  readonly backends: readonly (BackendName | CandidateName)[] | undefined;
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
  /** Called with the archive once it is there, so that no later try downloads it again. */
  readonly onArchive: (archive: Archive) => void;
}

export interface Open {
  readonly connection: Connection;
  readonly archive: Archive;
  readonly backend: Backend;
}

/** What another backend cannot mend, because the model, its config or its handler is at fault. */
const FATAL: ReadonlySet<ErrorCode> = new Set([
  'network', 'model-not-found', 'model-format', 'model-config', 'unknown-handler', 'handler-failed', 'invalid-input', 'batch-contract', 'unsupported', 'not-cloneable', 'aborted', 'worker-failed', 'disposed',
]); // prettier-ignore

/**
 * Opens a model on the first backend that can run it. Each gets a worker of its own; the one that probes becomes the first one's.
 * The archive is downloaded once, by the first worker, and handed to each.
 * @throws `no-backend` with every reason; `aborted`; what is wrong with the model, its config or its handler
 */
export async function openModel(options: OpenOptions): Promise<Open> {
  const { signal, onProgress, startupTimeout, factory } = options;
  let connection: Connection | undefined;
  const start = async (): Promise<Connection> => {
    connection = await Connection.start(factory, { signal, startupTimeout, onEvent: (event) => event.type === 'progress' && onProgress?.(event.progress) });
    return connection;
  };
  const abort = (): void => connection?.close(abortion(signal!));
  signal?.addEventListener('abort', abort);
  try {
    const first = await start();
    const [{ probe, built }, archive] = await Promise.all([
      first.call((worker) => worker.probe()),
      options.archive ?? first.call((worker) => worker.load({ url: options.url, config: options.config })),
    ]);
    options.onArchive(archive);
    return await tryAll(first, archive, probe, built, start, options);
  } catch (error) {
    connection?.close(asTabServeError(error));
    throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

async function tryAll(
  first: Connection,
  downloaded: Archive,
  probe: Probe,
  built: readonly CandidateName[],
  start: () => Promise<Connection>,
  { backends, handler, assets, responseTimeout, onArchive, demoted = [], only }: OpenOptions,
): Promise<Open> {
  const named = only ? [`${only.engine}/${only.name}` as CandidateName] : backends;
  const { candidates, skipped } = chooseCandidates({ probe, built, models: downloaded.models, named });
  const failed: Skipped[] = [...demoted];
  let archive = downloaded;
  let connection: Connection | undefined = first;
  let cause: TabServeError | undefined;
  for (const { engine, name } of candidates) {
    if (demoted.some((one) => one.engine === engine && one.name === name)) continue;
    try {
      connection ??= await start();
      archive = await connection.call((worker) => worker.loadModel(archive, engine));
      onArchive(archive);
      const { threads } = await connection.call((worker) => worker.open({ candidate: `${engine}/${name}` as CandidateName, archive, handler, assets }));
      connection.patience = responseTimeout;
      const others = [...skipped, ...failed].filter((one) => one.engine !== engine || one.name !== name);
      return { connection, archive, backend: { engine, name, threads, skipped: others } };
    } catch (error) {
      cause = asTabServeError(error);
      if (FATAL.has(cause.code))
        throw failed.length === 0 ? cause : new TabServeError(cause.code, `${cause.message} Before that: ${tell(failed)}`, { cause: cause.cause, stage: cause.stage });
      failed.push({ engine, name, reason: cause.message });
      connection?.close(cause);
      connection = undefined;
    }
  }
  const reasons = [...skipped.filter(({ engine, name }) => !failed.some((one) => one.engine === engine && one.name === name)), ...failed];
  throw new TabServeError('no-backend', `No backend can run ${archive.manifest.model.modelName}. ${tell(reasons)}`, { cause, stage: 'initialize' });
}

function tell(reasons: readonly Skipped[]): string {
  return reasons.map(({ engine, name, reason }) => `${engine}/${name}: ${reason}`).join(' ');
}
