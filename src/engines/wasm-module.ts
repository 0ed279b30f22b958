import type { FileProgress } from '../contract/archive.js';
import { TabServeError } from '../contract/errors.js';
import { browserClock } from '../shared/clock.js';
import { bodySize, countBytes } from '../shared/count-bytes.js';
import { discard } from '../shared/request-policy.js';
import { mayPass, readRetryAfter, TransientFailure, withRetries } from '../shared/retry.js';
import { StallTimer } from '../shared/stall-timer.js';
import type { EngineEnvironment } from './engine.js';

/** A `.wasm` file of an engine. */
export interface WasmFile {
  readonly name: string;
  /** The file's size in bytes. A server that compresses does not send it. */
  readonly bytes: number;
}

/**
 * Downloads and compiles an engine's `.wasm`, and reports its progress. Retries as for a file of the model, from the beginning.
 *
 * The response is cloned to count its bytes: in Chromium a clone keeps the code cache, and a stream of our own would lose it.
 * @throws `backend-failed` naming the URL, the server's answer, and the remedy
 */
export async function compileWasm(
  url: URL,
  { name, bytes }: WasmFile,
  { onProgress = () => {}, fetch = globalThis.fetch }: Pick<EngineEnvironment, 'onProgress' | 'fetch'>,
): Promise<WebAssembly.Module> {
  let last: FileProgress = { file: name, loaded: 0, total: bytes, phase: 'download' };
  const report = (loaded: number, total: number, phase: FileProgress['phase']): void =>
    onProgress((last = { file: name, loaded: Math.max(last.loaded, loaded), total, phase }));
  report(0, bytes, 'download');
  const attempt = async (): Promise<WebAssembly.Module> => {
    const stall = new StallTimer(browserClock);
    try {
      return await compileOnce(url, bytes, stall, fetch, report);
    } finally {
      stall.stop();
    }
  };
  return await withRetries(attempt, { clock: browserClock, random: Math.random, onHeartbeat: () => onProgress(last) });
}

/** @throws `TransientFailure` if another attempt may succeed; `backend-failed` */
async function compileOnce(
  url: URL,
  bytes: number,
  stall: StallTimer,
  fetch: typeof globalThis.fetch,
  report: (loaded: number, total: number, phase: FileProgress['phase']) => void,
): Promise<WebAssembly.Module> {
  let response: Response;
  try {
    response = await fetch(url, { credentials: 'same-origin', signal: stall.signal });
  } catch (cause) {
    const failure = unusable(url, (cause as Error).message, cause);
    throw cause instanceof TabServeError ? failure : new TransientFailure(failure);
  }
  const type = response.headers.get('content-type');
  const what = `the server answered ${response.status}, ${type === null ? 'without a content type' : `as ${type}`}`;
  if (!response.ok || /^text\/html\b/i.test(type ?? '') || !response.body) {
    discard(response);
    const failure = unusable(url, what);
    throw mayPass(response.status) ? new TransientFailure(failure, false, readRetryAfter(response)) : failure;
  }
  const total = bodySize(response) ?? bytes;
  const counted = countBytes(response.clone().body!, (loaded) => {
    stall.restart();
    report(loaded, Math.max(total, loaded), 'download');
  });
  const module = compile(response);
  const drained = drain(counted).then((size) => {
    // Compiling has no limit: nothing more arrives.
    stall.stop();
    report(size, size, 'compile');
  });
  try {
    await Promise.all([drained, module]);
  } catch (cause) {
    const failure = unusable(url, `${what}; ${(cause as Error).message}`, cause);
    throw cause instanceof WebAssembly.CompileError ? failure : new TransientFailure(failure);
  }
  return await module;
}

/** Compiles while bytes arrive, if the server sends the content type of WebAssembly. */
async function compile(response: Response): Promise<WebAssembly.Module> {
  const streamed = response.headers.get('content-type')?.toLowerCase() === 'application/wasm';
  return streamed
    ? await WebAssembly.compileStreaming(response)
    : await WebAssembly.compile(await response.arrayBuffer());
}

async function drain(stream: ReadableStream<Uint8Array>): Promise<number> {
  const reader = stream.getReader();
  let size = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) size += read.value.byteLength;
  return size;
}

function unusable(url: URL, what: string, cause?: unknown): TabServeError {
  return new TabServeError(
    'backend-failed',
    `The engine's file ${url.href} could not be loaded: ${what}. Serve the engine's files from a folder, and name it in the option "assets".`,
    { cause },
  );
}

const modules = new WeakMap<ArrayBufferLike, WebAssembly.Module>();
let hooked = false;

/**
 * Returns a buffer to give to an engine instead of its `.wasm`'s bytes: instantiating the buffer instantiates `module`.
 * Engines take only bytes, and would compile them again.
 */
export function bytesFor(module: WebAssembly.Module): ArrayBuffer {
  hookInstantiate();
  const buffer = new ArrayBuffer(0);
  modules.set(buffer, module);
  return buffer;
}

function hookInstantiate(): void {
  if (hooked) return;
  hooked = true;
  const { instantiate } = WebAssembly;
  WebAssembly.instantiate = (async (source: BufferSource | WebAssembly.Module, imports?: WebAssembly.Imports) => {
    const module = modules.get(ArrayBuffer.isView(source) ? source.buffer : (source as ArrayBuffer));
    return module
      ? { module, instance: await instantiate(module, imports) }
      : await instantiate(source as WebAssembly.Module, imports);
  }) as typeof WebAssembly.instantiate;
}
