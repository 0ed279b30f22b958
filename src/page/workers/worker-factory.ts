import type { ReadyMessage } from '../../contract/wire.js';

/**
 * Makes a fresh worker. It is called for each candidate and after each loss, so it must not return the same worker
 * twice.
 */
export type WorkerFactory = () => Worker;

/** A worker that was made before the scripts that open a model were loaded. It may not be ready. */
export interface PrestartedWorker {
  readonly worker: Worker;
  /** The URL of its script, if the factory has made it with `new Worker`. */
  readonly url: string | undefined;
  /** Resolves with the message that it is ready, or with its error. */
  readonly firstEvent: Promise<MessageEvent<ReadyMessage> | ErrorEvent>;
  /** Ends listening to it. */
  readonly stopListening: () => void;
}

/**
 * Makes a worker while the scripts that open a model still load, so that its own scripts load at the same time.
 * @returns undefined if that fails: those scripts try again, and report the error
 */
export function prestart(factory: WorkerFactory): PrestartedWorker | undefined {
  try {
    let url: string | undefined;
    const worker = callFactory(factory, (asked) => (url = asked));
    return isWorker(worker) ? listen(worker, url) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns whether a value is a Worker, of this frame or another. */
export function isWorker(value: unknown): value is Worker {
  const { addEventListener, postMessage, terminate } = (value ?? {}) as Partial<Worker>;
  return [addEventListener, postMessage, terminate].every((method) => typeof method === 'function');
}

/** Listens to a worker from its start: its messages are lost while nobody listens. */
export function listen(worker: Worker, url: string | undefined): PrestartedWorker {
  const listening = new AbortController();
  const on = { signal: listening.signal };
  const firstEvent = new Promise<Awaited<PrestartedWorker['firstEvent']>>((resolve) => {
    worker.addEventListener('error', resolve, on);
    worker.addEventListener(
      'message',
      (event) => (event.data as ReadyMessage | undefined)?.tabserve === 'ready' && resolve(event),
      on,
    );
  });
  return { worker, url, firstEvent, stopListening: () => listening.abort() };
}

/**
 * Calls the factory, and reports the URL of the worker that it makes: a Worker has no property for it, and the error
 * event of a script that cannot be loaded is empty. So the global `Worker` is a subclass while the factory runs. The
 * factory is synchronous, so no other code sees the subclass.
 * @throws what the factory throws
 */
export function callFactory(factory: WorkerFactory, onUrl: (url: string) => void): Worker {
  const Original = globalThis.Worker as typeof Worker | undefined;
  if (Original)
    globalThis.Worker = class extends Original {
      constructor(url: string | URL, options?: WorkerOptions) {
        onUrl(absolute(url));
        super(trusted(url), options);
      }
    };
  try {
    const made: unknown = factory();
    // An async factory is refused, and its worker must not stay.
    if (!isWorker(made))
      Promise.resolve(made).then(
        (late) => isWorker(late) && late.terminate(),
        () => {},
      );
    return made as Worker;
  } finally {
    if (Original) globalThis.Worker = Original;
  }
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
 * Returns a worker's URL in the form that a page with `require-trusted-types-for 'script'` accepts. The policy,
 * `tabserve`, accepts only scripts of the page's own origin. A URL that the app's own policy has made is returned as it
 * is.
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

/** Returns whether the page has refused the policy, as its Content-Security-Policy may. */
export function isPolicyRefused(): boolean {
  return isAsked && policies() !== undefined && policy === undefined;
}

/** Returns the page's Trusted Types, which TypeScript's declarations of the DOM do not have yet. */
function policies(): TrustedTypes | undefined {
  return (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes;
}

/** The workers that no app has listeners for. */
const builtIn = new WeakSet<Worker>();

/** Records that a worker is the built-in one, whose messages are all its connection's. */
export function markBuiltIn(worker: Worker): Worker {
  builtIn.add(worker);
  return worker;
}

/** Returns whether all messages of a worker are its connection's. */
export function isBuiltIn(worker: Worker): boolean {
  return builtIn.has(worker);
}
