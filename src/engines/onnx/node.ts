import { TabServeError } from '../../contract/errors.js';
import type { Engine, EngineEnvironment } from '../engine.js';
import { createEngine } from './engine.js';

/** The version that the package is tested with. */
const PACKAGE = 'onnxruntime-node@1.30.0';

/** Starts ONNX Runtime for Node, on the CPU. @throws `backend-failed` that says what to install */
export async function start(environment: Pick<EngineEnvironment, 'threads'>): Promise<Engine> {
  const threads = await environment.threads;
  const { default: ort } = await import('onnxruntime-node').catch((cause: unknown) => {
    throw notInstalled(cause);
  });
  return createEngine({
    ort,
    provider: 'cpu',
    threads,
    // The memory arena would keep what the largest run needed for as long as the process lives.
    session: { intraOpNumThreads: threads, interOpNumThreads: 1, enableCpuMemArena: false },
  });
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
    `onnxruntime-node ${what}. Install it: npm install ${PACKAGE} (where its download of GPU files fails, with ONNXRUNTIME_NODE_INSTALL=skip). Without it, backends: ['wasm'] (in a command, --backend wasm) runs the model in WebAssembly, slower.`,
    { cause },
  );
}
