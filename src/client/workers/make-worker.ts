import { describeThrown, isError, messageOf, TabServeError } from '../../contract/errors.js';

/** Makes a fresh worker. It is called for each candidate and after each loss, so it must not return the same worker twice. */
export type WorkerFactory = () => Worker;

/**
 * Calls the factory, and reports the URL of the worker that it makes: a Worker has no property for it, and the error event of a script that cannot be
 * loaded is empty. So the global `Worker` is a subclass while the factory runs. The factory is synchronous, so no other code sees the subclass.
 * @throws `worker-failed` with the remedy
 */
export function makeWorker(factory: WorkerFactory, onUrl: (url: string) => void): Worker {
  const Original = globalThis.Worker as typeof Worker | undefined;
  let asked: string | undefined;
  if (Original)
    globalThis.Worker = class extends Original {
      constructor(url: string | URL, options?: WorkerOptions) {
        onUrl((asked = absolute(url)));
        super(trusted(url), options);
      }
    };
  try {
    return factory();
  } catch (cause) {
    const why = isError(cause) ? messageOf(cause) : describeThrown(cause);
    const message = `The worker could not be made: ${why}${/[.!?]$/.test(why) ? '' : '.'} ${remedyFor(asked, cause)}`;
    throw new TabServeError('worker-failed', message.trim(), { cause });
  } finally {
    if (Original) globalThis.Worker = Original;
  }
}

/** Says why the script of a worker cannot be loaded, as far as the page can know, and what to do. */
export function notLoaded(url: string | undefined): string {
  const offline = globalThis.navigator?.onLine === false ? 'The browser is offline. ' : '';
  return `The worker's script could not be loaded${url ? `: ${url}` : ''}. ${offline}${remedyFor(url) || ASK}`;
}

const COPY = "Run `npx tabserve copy public/tabserve`, and set the option assets: '/tabserve/'.";

const ASK =
  'Is it there, served as JavaScript, and allowed by worker-src of the Content-Security-Policy? On a cross-origin isolated page, does its response have ' +
  `Cross-Origin-Embedder-Policy? If your bundler did not place it (esbuild, Rollup and Parcel do not): ${COPY} See docs/hosting.md#standalone-files.`;

/** Returns what to do about a worker that cannot start on this page; empty if nothing is known. */
function remedyFor(url: string | undefined, cause?: unknown): string {
  const { origin } = globalThis;
  if (origin === 'null')
    return "This frame is sandboxed, so its origin is opaque and it may not load the script of a worker. Add allow-same-origin to the frame's sandbox attribute, or see docs/hosting.md#sandboxed-frames.";
  if (url !== undefined && isElsewhere(url, origin))
    return `Browsers start no worker whose script is of another origin than the page, ${origin}. ${COPY} Serve the script of a worker of your own from the page's origin too: docs/hosting.md#scripts-on-another-origin.`;
  if (cause instanceof TypeError && policies() !== undefined && policy === undefined)
    return "If this page's Content-Security-Policy has trusted-types, add tabserve to it: docs/hosting.md#trusted-types.";
  return '';
}

function isElsewhere(url: string, origin: string): boolean {
  return /^https?:/.test(url) && origin !== undefined && new URL(url).origin !== origin;
}

function absolute(url: string | URL): string {
  return new URL(url, globalThis.document?.baseURI ?? globalThis.location?.href).href;
}

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL: (url: string) => string }): TrustedTypePolicy;
}

interface TrustedTypePolicy {
  createScriptURL(url: string): unknown;
}

/** Undefined until the first worker is made, and if the page's Content-Security-Policy does not allow it. */
let policy: TrustedTypePolicy | undefined;
let isAsked = false;

/**
 * Returns a worker's URL in the form that a page with `require-trusted-types-for 'script'` accepts. The policy, `tabserve`, accepts only scripts of the page's
 * own origin. A URL that the app's own policy has made is returned as it is.
 */
function trusted(url: string | URL): string | URL {
  if (!isAsked) {
    isAsked = true;
    try {
      policy = policies()?.createPolicy('tabserve', { createScriptURL: (url) => url });
    } catch {
      // The page's policy does not list it: if the page requires it, making the worker fails, and the error says so.
    }
  }
  const isPlain = typeof url === 'string' || url instanceof URL;
  return policy && isPlain && new URL(absolute(url)).origin === globalThis.origin
    ? (policy.createScriptURL(absolute(url)) as string)
    : url;
}

/** TypeScript's declarations of the DOM do not have it yet. */
function policies(): TrustedTypes | undefined {
  return (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes;
}
