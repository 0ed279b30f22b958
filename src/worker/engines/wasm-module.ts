import type { FileProgress } from '../../contract/archive.js';
import { messageOf, TabServeError } from '../../contract/errors.js';
import { browserClock } from '../../shared/clock.js';
import { timed } from '../../shared/spans.js';
import { readBody, ReceivedBytes } from '../models/download/read-body.js';
import { downloadFile } from '../models/download/download-file.js';
import type { EngineEnvironment, OnBytes } from './engine.js';

/** A `.wasm` file of an engine. */
export interface WasmFile {
  readonly name: string;
  /** The file's size in bytes. A server that compresses does not send it. */
  readonly bytes: number;
  /** The engine's version: the file of one version never changes. */
  readonly version: string;
}

/** The part of an engine's environment that compiling a file needs. */
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

/** Reads a `.wasm` from the cache, or downloads it as the model's files, and compiles it. Reports its progress. */
async function loadWasm(
  url: URL,
  { name, bytes, version }: WasmFile,
  { onProgress = () => {}, fetch = globalThis.fetch, cached }: Environment,
): Promise<WebAssembly.Module> {
  let last: FileProgress = { file: name, loaded: 0, total: bytes, phase: 'download' };
  const report = (loaded: number, total: number, phase: FileProgress['phase']): void =>
    onProgress((last = { file: name, loaded: Math.max(last.loaded, loaded), total, phase }));
  const onBytes: OnBytes = (loaded, total = bytes) => report(loaded, Math.max(total, loaded), 'download');
  let isFresh = false;
  const download = async (onBytes: OnBytes): Promise<Blob> => {
    const blob = await downloadEngine(url, fetch, onBytes, () => onProgress(last));
    isFresh = true;
    return blob;
  };
  const read = async (isDamaged?: boolean): Promise<Blob> =>
    (await cached?.({ url: url.href, version, isDamaged }, download, onBytes)) ?? (await download(onBytes));
  onBytes(0, bytes);
  for (let blob = await read(); ; blob = await read(true)) {
    report(blob.size, blob.size, 'compile');
    try {
      return await WebAssembly.compileStreaming(
        new Response(blob, { headers: { 'content-type': 'application/wasm' } }),
      );
    } catch (cause) {
      if (isFresh) throw unusable(url, messageOf(cause), cause);
    }
  }
}

/** Downloads a `.wasm`, and inflates it if it is stored as gzip. @throws `backend-failed` */
async function downloadEngine(
  url: URL,
  fetch: typeof globalThis.fetch,
  onBytes: OnBytes,
  onHeartbeat: () => void,
): Promise<Blob> {
  let answer = '';
  const options = {
    fetch: async (...request: Parameters<typeof fetch>): Promise<Response> => {
      const response = await fetch(...request);
      answer = describeAnswer(response);
      return response;
    },
    pageOrigin: globalThis.location?.origin,
    onProgress: (loaded: number, total: number | undefined) => onBytes(loaded, total),
    onHeartbeat,
    clock: browserClock,
    random: Math.random,
  };
  const file = await downloadFile(url, options).catch((cause: unknown) => {
    throw unusable(url, messageOf(cause).replace(`${url.href}: `, '').replace(/\.$/, ''), cause);
  });
  // A page of HTML means that the file is missing.
  if (file === undefined || file === 'not-modified') throw unusable(url, answer);
  return (await inflated(file.blob, url)) ?? file.blob;
}

/** Returns an answer's status and content type in words. */
export function describeAnswer({ status, headers }: Response): string {
  const type = headers.get('content-type');
  return `the server answered ${status}, ${type === null ? 'without a content type' : `as ${type}`}`;
}

/** The maximum number of bytes that a file stored as gzip is inflated to: about ten times the largest engine. */
const MAX_INFLATED_BYTES = 2 ** 28;

/**
 * Returns the content of a file that is stored as gzip, because its host limits the size of a file; nothing if the file
 * is something else.
 * @throws `backend-failed` if it is damaged, continues after its end, or has more content than `MAX_INFLATED_BYTES`
 */
async function inflated(blob: Blob, url: URL): Promise<Blob | undefined> {
  const [first, second] = new Uint8Array(await blob.slice(0, 2).arrayBuffer());
  if (first !== 0x1f || second !== 0x8b) return undefined;
  const content = new ReceivedBytes();
  const stream = blob.stream().pipeThrough(new DecompressionStream('gzip'));
  try {
    await readBody(stream, new AbortController().signal, (chunk) => {
      content.add(chunk);
      if (content.size > MAX_INFLATED_BYTES)
        throw unusable(url, `it is a gzip file of more than ${MAX_INFLATED_BYTES} bytes`);
    });
  } catch (cause) {
    throw cause instanceof TabServeError ? cause : unusable(url, 'it is a damaged gzip file', cause);
  }
  return content.toBlob();
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
