import { discard } from '../../../shared/request-policy.js';
import { canShareMemory } from '../../../shared/threads.js';
import type { EngineEnvironment } from '../engine.js';
import { describeAnswer } from '../wasm-module.js';

/** A module that may be ONNX Runtime's script. */
interface Script {
  readonly default?: unknown;
}

/** The operations on a script that a browser may refuse. */
const inBrowser = {
  load: async (href: string): Promise<Script> =>
    (await import(/* @vite-ignore */ /* webpackIgnore: true */ href)) as Script,
  /** Starts and ends a worker whose script is a Blob. */
  async startFromBlob(): Promise<void> {
    const url = URL.createObjectURL(new Blob(['postMessage(0)'], { type: 'text/javascript' }));
    const worker = new Worker(url);
    try {
      await new Promise((resolve, reject) => {
        worker.onmessage = resolve;
        worker.onerror = () => reject(new Error('no worker starts from a blob: URL'));
      });
    } finally {
      worker.terminate();
      URL.revokeObjectURL(url);
    }
  },
};

type Environment = Pick<EngineEnvironment, 'fetch' | 'warn'>;
type Prepare = (script: URL, fetch: typeof globalThis.fetch, actions: typeof inBrowser) => Promise<string>;

/** The settings of ONNX Runtime. */
export interface UsableThreads {
  readonly threads: number;
  /** The URL from which ONNX Runtime imports the threads' script; undefined for one thread. */
  readonly mjs?: string;
}

/**
 * Returns how many threads ONNX Runtime can start: one, with a warning, if the page is not cross-origin isolated, or
 * the browser does not accept the script of its threads. Otherwise ONNX Runtime itself would fail on it, and could not
 * be started again in this worker.
 */
export async function usableThreads(
  wanted: number,
  script: () => URL,
  { fetch = globalThis.fetch, warn }: Environment,
  actions = inBrowser,
): Promise<UsableThreads> {
  if (wanted === 1) return { threads: 1 };
  const oneThread = (why: string): UsableThreads => {
    warn?.(`ONNX Runtime computes with 1 thread instead of ${wanted}: ${why}.`);
    return { threads: 1 };
  };
  if (!canShareMemory()) return oneThread('the page is not cross-origin isolated by the headers COOP and COEP');
  const url = script();
  const prepare = url.origin === globalThis.location?.origin ? prepareOwn : prepareForeign;
  try {
    return { threads: wanted, mjs: await prepare(url, fetch, actions) };
  } catch (error) {
    return oneThread(`the script of its threads, ${url.href}, could not be loaded: ${(error as Error).message}`);
  }
}

/** Imports a script of this origin, and returns the URL at which ONNX Runtime then gets the same module. */
const prepareOwn: Prepare = async ({ href }, fetch, { load }) => {
  const module = await load(href).catch(() => undefined);
  if (module) return checked(module, href);
  discard(await fetchScript(href, fetch));
  // A browser may not request a script again whose import has failed, but the same script with a fragment, which
  // servers do not get.
  const again = `${href}#again`;
  return checked(await load(again), again);
};

/**
 * Imports a script of another origin from a Blob, since a thread starts only from this origin, and returns the Blob's
 * URL. It stays valid: threads start from it.
 */
const prepareForeign: Prepare = async ({ href }, fetch, { load, startFromBlob }) => {
  const response = await fetchScript(href, fetch);
  const url = URL.createObjectURL(await response.blob());
  const [module] = await Promise.all([load(url), startFromBlob()]).catch((cause: Error) => {
    const advice =
      'A Content-Security-Policy must have blob: in script-src and in worker-src, since the script is of another origin';
    throw new Error(`${cause.message}. ${advice}`, { cause });
  });
  return checked(module, url);
};

/** Requests a script. @throws an error with the server's answer, if it is no script */
async function fetchScript(href: string, fetch: typeof globalThis.fetch): Promise<Response> {
  const response = await fetch(href, { credentials: 'same-origin' });
  const isScript = /javascript/i.test(response.headers.get('content-type') ?? '');
  if (response.ok && isScript) return response;
  discard(response);
  throw new Error(`${describeAnswer(response)}${response.ok ? '. The server must send it as text/javascript' : ''}`);
}

/** Returns the URL of a module, if it is ONNX Runtime's script. @throws an error that says that it is not */
function checked(module: Script, href: string): string {
  if (typeof module.default === 'function') return href;
  throw new Error('it is not the script of ONNX Runtime');
}
