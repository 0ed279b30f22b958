import { describeThrown, isError, messageOf, TabServeError } from '../../contract/errors.js';
import { describeValue } from '../../contract/describe-value.js';
import { PROTOCOL, type ReadyMessage } from '../../contract/wire.js';
import { abortError } from '../../shared/abort.js';

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
  let worker: Worker;
  let url: string | undefined;
  try {
    worker = make(factory, (asked) => (url = asked));
  } catch (cause) {
    throw failed(notMade(cause), cause);
  }
  if (!isWorker(worker)) throw failed(`connect's factory must return a Worker, not ${describeValue(worker)}.`);
  const listening = new AbortController();
  const on = { signal: listening.signal };
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      timer = setTimeout(() => reject(failed(silent(startupTimeout))), startupTimeout * 1000);
      signal?.addEventListener('abort', () => reject(abortError(signal)), on);
      worker.addEventListener('error', (event) => reject(failed(notStarted(event, url), event.error)), on);
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
  return `The worker did not start within startupTimeout, ${seconds} s. Check that its module calls expose(). On a slow connection, raise startupTimeout.`;
}

function notMade(cause: unknown): string {
  const why = `The worker could not be made: ${isError(cause) ? messageOf(cause) : describeThrown(cause)}`;
  if (globalThis.origin !== 'null') return why;
  return `${why} This frame is sandboxed, so its origin is opaque and it may not load the script of a worker. Add allow-same-origin to the frame's sandbox attribute, or see docs/hosting.md#sandboxed-frames.`;
}

function notStarted(event: ErrorEvent, url: string | undefined): string {
  const why = describeErrorEvent(event);
  if (why) return `The worker could not start: ${why}.`;
  const offline = globalThis.navigator?.onLine === false ? 'The browser is offline. ' : '';
  return (
    `The worker's script could not be loaded${url ? `: ${url}` : ''}. ${offline}` +
    'Is it there, served as JavaScript, of the same origin, and allowed by worker-src of the Content-Security-Policy? ' +
    'Where a bundler did not place it, copy the self-contained worker file and pass connect() a factory for it: docs/hosting.md#standalone-files.'
  );
}

/** Returns the message and place of a worker's uncaught error; undefined if its script could not be loaded: that event is empty. */
export function describeErrorEvent(event: Event): string | undefined {
  const { message, filename, lineno } = event as Partial<ErrorEvent>;
  return message ? `${message}${filename ? ` (${filename}:${lineno})` : ''}` : undefined;
}

/**
 * Calls the factory, and reports the URL of the worker that it makes: a Worker has no property for it, and its error event is
 * empty. So the global `Worker` is a subclass while the factory runs. The factory is synchronous, so no other code sees the subclass.
 */
function make(factory: WorkerFactory, onUrl: (url: string) => void): Worker {
  const Original = globalThis.Worker as typeof Worker | undefined;
  if (!Original) return factory();
  globalThis.Worker = class extends Original {
    constructor(url: string | URL, options?: WorkerOptions) {
      super(url, options);
      onUrl(new URL(url, globalThis.document?.baseURI ?? globalThis.location?.href).href);
    }
  };
  try {
    return factory();
  } finally {
    globalThis.Worker = Original;
  }
}

function failed(message: string, cause?: unknown): TabServeError {
  return new TabServeError('worker-failed', message, { cause });
}

/** Returns whether a value is a Worker, of this frame or another. */
function isWorker(value: unknown): value is Worker {
  try {
    const { addEventListener, postMessage, terminate } = value as Partial<Worker>;
    return [addEventListener, postMessage, terminate].every((method) => typeof method === 'function');
  } catch {
    return false;
  }
}
