import type { FileProgress } from '../contract/archive.js';
import { TabServeError } from '../contract/errors.js';
import { browserClock } from '../shared/clock.js';
import { bodySize, countBytes } from '../shared/count-bytes.js';
import { discard } from '../shared/request-policy.js';
import { timed } from '../shared/spans.js';
import { mayPass, readRetryAfter, TransientFailure, withRetries } from '../shared/retry.js';
import { StallTimer } from '../shared/stall-timer.js';
import type { EngineEnvironment, OnBytes } from './engine.js';

/** A `.wasm` file of an engine. */
export interface WasmFile {
  readonly name: string;
  /** The file's size in bytes. A server that compresses does not send it. */
  readonly bytes: number;
  /** The engine's version: the file of one version never changes. */
  readonly version: string;
}

/** What compiling a file needs of an engine's environment. */
type Environment = Pick<EngineEnvironment, 'onProgress' | 'fetch' | 'cached' | 'compiled' | 'onCompiled'>;

/**
 * Returns an engine's `.wasm`, compiled: by an earlier worker of the page, or now.
 * @throws `backend-failed` naming the URL, the server's answer, and the remedy
 */
export async function compileWasm(url: URL, file: WasmFile, environment: Environment): Promise<WebAssembly.Module> {
  const { name, bytes, version } = file;
  const { compiled, onProgress, onCompiled } = environment;
  if (compiled?.url === url.href && compiled.version === version) {
    onProgress?.({ file: name, loaded: bytes, total: bytes, phase: 'compile' });
    return compiled.module;
  }
  const module = await timed('compile engine', () => loadWasm(url, file, environment));
  onCompiled?.({ url: url.href, version, module });
  return module;
}

/** Reads a `.wasm` from the cache, or downloads it, and compiles it. Reports its progress. Retries as for a file of the model, from the beginning. */
async function loadWasm(
  url: URL,
  { name, bytes, version }: WasmFile,
  { onProgress = () => {}, fetch = globalThis.fetch, cached }: Environment,
): Promise<WebAssembly.Module> {
  let last: FileProgress = { file: name, loaded: 0, total: bytes, phase: 'download' };
  const report = (loaded: number, total: number, phase: FileProgress['phase']): void =>
    onProgress((last = { file: name, loaded: Math.max(last.loaded, loaded), total, phase }));
  const onBytes: OnBytes = (loaded, total = bytes) => report(loaded, Math.max(total, loaded), 'download');
  const download = async (onBytes: OnBytes): Promise<Compiled> => {
    const attempt = async (): Promise<Compiled> => {
      const stall = new StallTimer(browserClock);
      try {
        return await downloadOnce(url, stall, fetch, onBytes, (size) => report(size, size, 'compile'));
      } finally {
        stall.stop();
      }
    };
    const onHeartbeat = (): void => onProgress(last);
    return await withRetries(attempt, { clock: browserClock, random: Math.random, onHeartbeat });
  };
  onBytes(0, bytes);
  if (!cached) return (await download(onBytes)).module;
  let module: WebAssembly.Module | undefined;
  const read = (isDamaged?: boolean): Promise<Blob | undefined> =>
    cached(
      { url: url.href, version, isDamaged },
      async (onBytes) => {
        const compiled = await download(onBytes);
        module = compiled.module;
        return compiled.blob;
      },
      onBytes,
    );
  const blob = await read();
  if (module) return module;
  report(blob!.size, blob!.size, 'compile');
  try {
    return await compile(responseOf(blob!));
  } catch {
    await read(true);
    return module!;
  }
}

/** The content type of WebAssembly. */
const WASM = 'application/wasm';

/** A file, and the module that it was compiled to. */
interface Compiled {
  readonly module: WebAssembly.Module;
  readonly blob: Blob;
}

/**
 * Compiles a file while it arrives, if the server sends the content type of WebAssembly. In Chromium a clone of the response keeps the code cache, and a stream of our
 * own would lose it: so the bytes are counted in the clone. What is not WebAssembly may be stored as gzip, and is inflated then.
 * @throws `TransientFailure` if another attempt may succeed; `backend-failed`
 */
async function downloadOnce(
  url: URL,
  stall: StallTimer,
  fetch: typeof globalThis.fetch,
  onBytes: OnBytes,
  onDownloaded: (size: number) => void,
): Promise<Compiled> {
  let response: Response;
  try {
    response = await fetch(url, { credentials: 'same-origin', signal: stall.signal });
  } catch (cause) {
    const failure = unusable(url, (cause as Error).message, cause);
    throw cause instanceof TabServeError ? failure : new TransientFailure(failure);
  }
  const type = response.headers.get('content-type');
  const what = describeAnswer(response);
  if (!response.ok || /^text\/html\b/i.test(type ?? '') || !response.body) {
    discard(response);
    const failure = unusable(url, what);
    throw mayPass(response.status) ? new TransientFailure(failure, false, readRetryAfter(response)) : failure;
  }
  const total = bodySize(response);
  const downloaded = readChunks(response.clone().body!, (loaded) => {
    stall.restart();
    onBytes(loaded, total);
  }).then((chunks) => {
    // Compiling has no limit: nothing more arrives.
    stall.stop();
    const blob = new Blob(chunks);
    onDownloaded(blob.size);
    return blob;
  });
  const compiled = compile(response).then(
    async (module) => ({ module, blob: await downloaded }),
    async (error: unknown) => {
      const blob = await inflated(await downloaded, url);
      if (!blob) throw error;
      return { module: await compile(responseOf(blob)), blob };
    },
  );
  try {
    return (await Promise.all([compiled, downloaded]))[0];
  } catch (cause) {
    if (cause instanceof TabServeError) throw cause;
    const failure = unusable(url, `${what}; ${(cause as Error).message}`, cause);
    throw cause instanceof WebAssembly.CompileError ? failure : new TransientFailure(failure);
  }
}

/** Returns an answer's status and content type in words. */
export function describeAnswer({ status, headers }: Response): string {
  const type = headers.get('content-type');
  return `the server answered ${status}, ${type === null ? 'without a content type' : `as ${type}`}`;
}

/** Reads a body to its end. The browser's own way to make a Blob of a stream takes the worker a tenth of a second for an engine. */
async function readChunks(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  onBytes: (loaded: number) => void,
): Promise<BlobPart[]> {
  const reader = body.getReader();
  const chunks: BlobPart[] = [];
  let loaded = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    chunks.push(read.value);
    onBytes((loaded += read.value.byteLength));
  }
  return chunks;
}

async function compile(response: Response): Promise<WebAssembly.Module> {
  return response.headers.get('content-type')?.toLowerCase() === WASM
    ? await WebAssembly.compileStreaming(response)
    : await WebAssembly.compile(await response.arrayBuffer());
}

function responseOf(blob: Blob): Response {
  return new Response(blob, { headers: { 'content-type': WASM } });
}

/** The most bytes that a file stored as gzip is inflated to: about ten times the largest engine. */
const MOST_INFLATED = 2 ** 28;

/**
 * Returns the content of a file that is stored as gzip, because its host limits the size of a file; nothing if the file is something else.
 * @throws `backend-failed` if it is damaged, goes on behind its end, or has more content than `MOST_INFLATED`
 */
async function inflated(blob: Blob, url: URL): Promise<Blob | undefined> {
  const [first, second] = new Uint8Array(await blob.slice(0, 2).arrayBuffer());
  if (first !== 0x1f || second !== 0x8b) return undefined;
  const content = countBytes(blob.stream().pipeThrough(new DecompressionStream('gzip')), (size) => {
    if (size > MOST_INFLATED) throw unusable(url, `it is a gzip file of more than ${MOST_INFLATED} bytes`);
  });
  return await new Response(content).blob().catch((cause: unknown) => {
    if (cause instanceof TabServeError) throw cause;
    throw unusable(url, 'it is a damaged gzip file', cause);
  });
}

function unusable(url: URL, what: string, cause?: unknown): TabServeError {
  return new TabServeError(
    'backend-failed',
    `The engine's file ${url.href} could not be loaded: ${what}. Copy the engines' files with \`npx tabserve copy\`, and name their folder in the option "assets".`,
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
