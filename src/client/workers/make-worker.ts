import { messageOf, TabServeError } from '../../contract/errors.js';
import { callFactory, isPolicyRefused, type WorkerFactory } from './early-worker.js';

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
  return `The worker's script could not be loaded${url ? `: ${url}` : ''}. ${offline}${remedyFor(url) || ASK}`;
}

const COPY = "Run `npx tabserve copy public/tabserve`, and set the option assets: '/tabserve/'.";

const ASK =
  'Is it there, served as JavaScript, and allowed by worker-src of the Content-Security-Policy? On a cross-origin isolated page, is it served with ' +
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
