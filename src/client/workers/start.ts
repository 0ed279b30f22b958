import { TabServeError } from '../../contract/errors.js';
import { PROTOCOL, type ReadyMessage } from '../../contract/wire.js';
import { abortError } from '../abort.js';

/** Makes a fresh worker. It is called for each candidate and after each loss, so it must not return the same worker twice. */
export type WorkerFactory = () => Worker;

export interface StartOptions {
  readonly signal: AbortSignal | undefined;
  /** Seconds that the worker's script may take to load and to say that it is ready. */
  readonly startupTimeout: number;
}

/** Makes a worker and waits until it says that it is ready. @throws `worker-failed` if it does not; `aborted` */
export async function startWorker(factory: WorkerFactory, { signal, startupTimeout }: StartOptions): Promise<Worker> {
  if (signal?.aborted) throw abortError(signal);
  const before = performance.now();
  let worker: Worker;
  try {
    worker = factory();
  } catch (cause) {
    throw failed(`The worker could not be made: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  }
  const listening = new AbortController();
  const on = { signal: listening.signal };
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      timer = setTimeout(() => reject(failed(silent(startupTimeout))), startupTimeout * 1000);
      signal?.addEventListener('abort', () => reject(abortError(signal)), on);
      worker.addEventListener('error', (event) => reject(failed(notStarted(event, before), event.error)), on);
      worker.addEventListener(
        'message',
        ({ data }: MessageEvent<ReadyMessage | undefined>) => {
          if (data?.tabserve !== 'ready') return;
          if (data.protocol === PROTOCOL) resolve();
          else reject(failed(`The worker speaks protocol ${data.protocol}, the page ${PROTOCOL}: ${SAME_VERSION}`));
        },
        on,
      );
    });
    return worker;
  } catch (error) {
    worker.terminate();
    throw error;
  } finally {
    clearTimeout(timer);
    listening.abort();
  }
}

const SAME_VERSION = 'they come from different versions of tabserve. Build both from the same one.';

function silent(seconds: number): string {
  return `The worker did not start within startupTimeout, ${seconds} s. Does its module call expose()? Is its line slow? Then raise startupTimeout.`;
}

function notStarted(event: ErrorEvent, since: number): string {
  const why = describeErrorEvent(event);
  if (why) return `The worker could not start: ${why}.`;
  const url = workerUrl(since);
  return (
    `The worker's script could not be loaded${url ? `: ${url}` : ''}. ` +
    'Is it there, served as JavaScript, of the same origin, and allowed by worker-src of the Content-Security-Policy? ' +
    'Where a bundler did not place it, copy the self-contained worker file and pass connect() a factory for it: docs/hosting.md.'
  );
}

/** Returns what an uncaught error of a worker says; undefined for a script that could not be loaded, whose event says nothing. */
export function describeErrorEvent(event: Event): string | undefined {
  const { message, filename, lineno } = event as Partial<ErrorEvent>;
  return message ? `${message}${filename ? ` (${filename}:${lineno})` : ''}` : undefined;
}

/** The browser's list of requests knows the URL that a factory has asked for. */
function workerUrl(since: number): string | undefined {
  const entries = globalThis.performance?.getEntriesByType?.('resource') ?? [];
  return entries.findLast(({ startTime, name }) => startTime >= since - 1 && /\.[cm]?[jt]s(\?|$)/.test(name))?.name;
}

function failed(message: string, cause?: unknown): TabServeError {
  return new TabServeError('worker-failed', message, { cause });
}
