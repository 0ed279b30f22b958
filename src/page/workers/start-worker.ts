import { AFTER_DEPLOYMENT } from '../../contract/script-error.js';
import { TabServeError, messageOf } from '../../contract/errors.js';
import { describeValue } from '../../contract/describe-value.js';
import { PROTOCOL } from '../../contract/wire.js';
import { abortError } from '../../shared/abort.js';
import {
  isWorker,
  listen,
  type PrestartedWorker,
  type WorkerFactory,
  callFactory,
  isPolicyRefused,
} from './worker-factory.js';

export interface StartOptions {
  readonly signal: AbortSignal | undefined;
  /** Seconds that the worker's script may take to load and to say that it is ready. */
  readonly startupTimeout: number;
  /** A worker that was made earlier. */
  readonly prestarted?: PrestartedWorker | undefined;
}

/** Makes a worker and waits until it says that it is ready. @throws `worker-failed` if it does not; `aborted` */
export async function startWorker(
  factory: WorkerFactory,
  { signal, startupTimeout, prestarted }: StartOptions,
): Promise<Worker> {
  if (signal?.aborted) throw abortError(signal);
  const { worker, url, firstEvent, stopListening } = prestarted ?? make(factory);
  const listening = new AbortController();
  const on = { signal: listening.signal };
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      timer = setTimeout(() => reject(failed(silent(startupTimeout))), startupTimeout * 1000);
      signal?.addEventListener('abort', () => reject(abortError(signal)), on);
      void firstEvent.then((event) => {
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
    stopListening();
  }
}

/** @throws `worker-failed` */
function make(factory: WorkerFactory): PrestartedWorker {
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

/**
 * Returns the message and place of a worker's uncaught error; undefined if its script could not be loaded: that event
 * is empty.
 */
export function describeErrorEvent(event: Event): string | undefined {
  const { message, filename, lineno } = event as Partial<ErrorEvent>;
  return message ? `${message}${filename ? ` (${filename}:${lineno})` : ''}` : undefined;
}

function failed(message: string, cause?: unknown): TabServeError {
  return new TabServeError('worker-failed', message, { cause });
}

/** Calls the factory, as `callFactory` does. @throws `worker-failed` with the remedy */
export function makeWorker(factory: WorkerFactory, onUrl: (url: string) => void): Worker {
  let asked: string | undefined;
  try {
    return callFactory(factory, (url) => onUrl((asked = url)));
  } catch (cause) {
    const why = messageOf(cause);
    const message = `The worker could not be made: ${why}${/[.!?]$/.test(why) ? '' : '.'} ${remedyFor(asked, cause)}`;
    throw new TabServeError('worker-failed', message.trim(), { cause });
  }
}

/** Says why the script of a worker cannot be loaded, as far as the page can know, and what to do. */
export function notLoaded(url: string | undefined): string {
  const offline = globalThis.navigator?.onLine === false ? 'The browser is offline. ' : '';
  return `The worker's script could not be loaded${url ? `: ${url}` : ''}. ${offline}${remedyFor(url) || `${AFTER_DEPLOYMENT} Otherwise: ${ASK}`}`;
}

const COPY = "Run `npx tabserve copy public/tabserve`, and set the option assets: '/tabserve/'.";

const ASK =
  'is it there, served as JavaScript, and allowed by worker-src of the Content-Security-Policy? On a cross-origin isolated page, is it served with ' +
  `Cross-Origin-Embedder-Policy? Publish the whole build. With esbuild, Rollup or Parcel: ${COPY} See docs/hosting.md#standalone-files.`;

/** Returns what to do about a worker that cannot start on this page; empty if nothing is known. */
function remedyFor(url: string | undefined, cause?: unknown): string {
  const { origin } = globalThis;
  if (origin === 'null')
    return "This frame is sandboxed, so its origin is opaque and it may not load the script of a worker. Add allow-same-origin to the frame's sandbox attribute, or see docs/hosting.md#sandboxed-frames.";
  if (url !== undefined && isElsewhere(url, origin))
    return `Browsers start no worker whose script is of another origin than the page, ${origin}. ${COPY} Serve the script of a worker of your own from the page's origin too: docs/hosting.md#scripts-on-another-origin.`;
  if (cause instanceof TypeError && isPolicyRefused())
    return "If this page's Content-Security-Policy has trusted-types, add tabserve to it: docs/hosting.md#trusted-types.";
  return '';
}

function isElsewhere(url: string, origin: string): boolean {
  return /^https?:/.test(url) && origin !== undefined && new URL(url).origin !== origin;
}
