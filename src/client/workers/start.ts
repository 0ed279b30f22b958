import { TabServeError } from '../../contract/errors.js';
import { describeValue } from '../../contract/describe-value.js';
import { PROTOCOL } from '../../contract/wire.js';
import { abortError } from '../../shared/abort.js';
import { isWorker, listen, type EarlyWorker, type WorkerFactory } from './early-worker.js';
import { makeWorker, notLoaded } from './make-worker.js';

export interface StartOptions {
  readonly signal: AbortSignal | undefined;
  /** Seconds that the worker's script may take to load and to say that it is ready. */
  readonly startupTimeout: number;
  /** A worker that was made already. */
  readonly early?: EarlyWorker | undefined;
}

/** Makes a worker and waits until it says that it is ready. @throws `worker-failed` if it does not; `aborted` */
export async function startWorker(
  factory: WorkerFactory,
  { signal, startupTimeout, early }: StartOptions,
): Promise<Worker> {
  if (signal?.aborted) throw abortError(signal);
  const { worker, url, said, ignore } = early ?? make(factory);
  const listening = new AbortController();
  const on = { signal: listening.signal };
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      timer = setTimeout(() => reject(failed(silent(startupTimeout))), startupTimeout * 1000);
      signal?.addEventListener('abort', () => reject(abortError(signal)), on);
      void said.then((event) => {
        if (!('data' in event)) reject(failed(notStarted(event, url), event.error));
        else if (event.data.protocol === PROTOCOL) resolve();
        else reject(failed(`The worker speaks protocol ${event.data.protocol}, the page ${PROTOCOL}: ${SAME_VERSION}`));
      });
    });
    return worker;
  } catch (error) {
    worker.terminate();
    throw error;
  } finally {
    clearTimeout(timer);
    listening.abort();
    ignore();
  }
}

/** @throws `worker-failed` */
function make(factory: WorkerFactory): EarlyWorker {
  let url: string | undefined;
  const worker = makeWorker(factory, (asked) => (url = asked));
  if (!isWorker(worker)) throw failed(`connect's factory must return a Worker, not ${describeValue(worker)}.`);
  return listen(worker, url);
}

const SAME_VERSION =
  'they come from different versions of tabserve. Build both from the same one; if the worker is a copy, run `npx tabserve copy` again.';

function silent(seconds: number): string {
  return `The worker did not start within startupTimeout, ${seconds} s. Check that its module calls expose(). On a slow connection, raise startupTimeout.`;
}

function notStarted(event: ErrorEvent, url: string | undefined): string {
  const why = describeErrorEvent(event);
  if (!why) return notLoaded(url);
  const hint = /import|module/.test(why) ? " Was it made with { type: 'module' }?" : '';
  return `The worker could not start: ${why}.${hint}`;
}

/** Returns the message and place of a worker's uncaught error; undefined if its script could not be loaded: that event is empty. */
export function describeErrorEvent(event: Event): string | undefined {
  const { message, filename, lineno } = event as Partial<ErrorEvent>;
  return message ? `${message}${filename ? ` (${filename}:${lineno})` : ''}` : undefined;
}

function failed(message: string, cause?: unknown): TabServeError {
  return new TabServeError('worker-failed', message, { cause });
}
