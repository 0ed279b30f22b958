import { stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type * as Ort from 'onnxruntime-node';
import { TabServeError } from '../../../contract/errors.js';
import type { Engine, EngineEnvironment } from '../engine.js';
import { createEngine } from './engine.js';

/** The version that the package is tested with. */
const PACKAGE = 'onnxruntime-node@1.30.0';

/** Makes a call, with the work that belongs before and after it. */
export type Around = <T>(call: () => Promise<T>) => Promise<T>;

/**
 * Starts ONNX Runtime for Node, on the CPU.
 * @param around makes each call of its native code; by default, unchanged
 * @throws `backend-failed` that says what to install
 */
export async function start(
  environment: Pick<EngineEnvironment, 'threads'>,
  around: Around = (call) => call(),
): Promise<Engine> {
  const threads = await environment.threads;
  const { default: ort } = await import('onnxruntime-node').catch((cause: unknown) => {
    throw notInstalled(cause);
  });
  return createEngine({
    ort: { ...ort, InferenceSession: sessionsWith(ort.InferenceSession, around) },
    provider: 'cpu',
    threads,
    pathOf: unchangedPath,
    // The memory arena would retain the memory of the largest run for as long as the process lives.
    session: { intraOpNumThreads: threads, interOpNumThreads: 1, enableCpuMemArena: false },
  });
}

/** When this process has started, in milliseconds since 1970. */
const STARTED = Date.now() - process.uptime() * 1000;

/** Returns the path of a file that has not changed since this process started, so that it still is what was read. */
export async function unchangedPath(url: URL, bytes: number): Promise<string | undefined> {
  if (url.protocol !== 'file:') return undefined;
  const path = fileURLToPath(url);
  const { size, mtimeMs, ctimeMs } = await stat(path);
  return size === bytes && Math.max(mtimeMs, ctimeMs) < STARTED ? path : undefined;
}

/** Returns what creates sessions whose every call is made by `around`. */
function sessionsWith(sessions: Ort.InferenceSessionFactory, around: Around): Ort.InferenceSessionFactory {
  const create = async (model: Uint8Array | string, options: Ort.InferenceSession.SessionOptions): Promise<unknown> => {
    const session = await around(() => sessions.create(model as string, options));
    const [run, release] = [session.run.bind(session), session.release.bind(session)];
    return Object.assign(session, {
      run: (feeds: Ort.InferenceSession.FeedsType) => around(() => run(feeds)),
      release: () => around(release),
    });
  };
  return { create: create as Ort.InferenceSessionFactory['create'] };
}

/** Starts ONNX Runtime's WASM under Node. It computes in the calling thread. */
export async function startWasm(): Promise<Engine> {
  return createEngine({ ort: await import('onnxruntime-web'), provider: 'wasm', threads: 1 });
}

function notInstalled(cause: unknown): TabServeError {
  const { code, message } = cause as { readonly code?: unknown; readonly message?: string };
  const isMissing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
  const what = isMissing ? 'is not installed' : `could not be loaded: ${message}`;
  return new TabServeError(
    'backend-failed',
    `onnxruntime-node ${what}. Install it: npm install ${PACKAGE} (where its download of GPU files fails, with ONNXRUNTIME_NODE_INSTALL=skip). Without it, backends: ['wasm'] (in a command, --backends wasm) runs the model in WebAssembly, slower.`,
    { cause },
  );
}
