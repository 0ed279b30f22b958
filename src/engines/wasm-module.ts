import { TabServeError } from '../contract/errors.js';
import { bodySize, countBytes } from '../shared/count-bytes.js';
import type { EngineEnvironment } from './engine.js';

/** A `.wasm` file of an engine. */
export interface WasmFile {
  readonly name: string;
  /** The file's size in bytes. A server that compresses does not send it. */
  readonly bytes: number;
}

/**
 * Downloads and compiles an engine's `.wasm`, and reports its progress.
 *
 * The response is cloned to count its bytes: in Chromium a clone keeps the code cache, and a stream of our own would lose it.
 * @throws `backend-failed` naming the URL, the server's answer, and the remedy
 */
export async function compileWasm(
  url: URL,
  { name, bytes }: WasmFile,
  { onProgress = () => {}, fetch = globalThis.fetch }: Pick<EngineEnvironment, 'onProgress' | 'fetch'>,
): Promise<WebAssembly.Module> {
  onProgress({ file: name, loaded: 0, total: bytes, phase: 'download' });
  let response: Response;
  try {
    response = await fetch(url, { credentials: 'same-origin' });
  } catch (cause) {
    throw unusable(url, (cause as Error).message, cause);
  }
  const type = response.headers.get('content-type');
  const what = `the server answered ${response.status}, ${type === null ? 'without a content type' : `as ${type}`}`;
  if (!response.ok || /^text\/html\b/i.test(type ?? '') || !response.body) throw unusable(url, what);
  const total = bodySize(response) ?? bytes;
  const counted = countBytes(response.clone().body!, (loaded) =>
    onProgress({ file: name, loaded, total, phase: 'download' }),
  );
  const module = compile(response);
  const drained = drain(counted).then((size) => {
    onProgress({ file: name, loaded: size, total: size, phase: 'compile' });
  });
  await Promise.all([drained, module]).catch((cause: unknown) => {
    throw unusable(url, `${what}; ${(cause as Error).message}`, cause);
  });
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
