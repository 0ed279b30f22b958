import type { InferenceSession } from 'onnxruntime-web';
import type { BlobFiles } from '../../../contract/archive.js';
import { TabServeError } from '../../../contract/errors.js';
import { loadScript } from '../../../shared/load-script.js';
import { besideModel, readExternalData } from '../../models/onnx/external-data.js';
import { OWN_FILE, readGraph } from '../../models/onnx/graph.js';
import type { Build, ProviderName } from './engine.js';
import { readSignature, type Signature } from './signature.js';

/** What a session is created from. */
export interface SessionSource extends Signature {
  /** The file's bytes, its graph without the large weights, or its path. */
  readonly model: Uint8Array | string;
  /** The files of the model's large tensors. */
  readonly externalData: NonNullable<InferenceSession.SessionOptions['externalData']>;
}

/** WebNN takes parts of a file in another way, and WebGL none. */
const READ_LAZILY: ReadonlySet<ProviderName> = new Set(['wasm', 'webgpu']);

/**
 * Reads a model. On WASM and WebGPU, a large model's weights are given to ONNX Runtime as external data, which it reads
 * straight to where it computes: given as one piece, the model is in memory four times while it loads, as the file, as
 * ONNX Runtime's copy of it, as the parsed file, and as weights, and most of it stays there.
 * Under Node, ONNX Runtime reads a large model's file itself, as it is.
 * @param lastTokenOf see `OpenOptions`
 * @throws `model-not-found`, `model-format`, `unsupported`; `backend-failed` on WebGL, which cannot load external data
 */
export async function readModel(
  { provider, pathOf }: Pick<Build, 'provider' | 'pathOf'>,
  files: BlobFiles,
  path: string,
  lastTokenOf?: string,
): Promise<SessionSource> {
  const given = await files.blob(path);
  const isLazy = READ_LAZILY.has(provider) && canReadLazily();
  const url = files.url?.(path);
  const ownPath = url && (await pathOf?.(url, given.size));
  const graph = isLazy || ownPath !== undefined ? await readGraph(given) : undefined;
  const file = graph ? new Blob([graph]) : given;
  const isChanged = lastTokenOf !== undefined && ownPath === undefined;
  const model = await bytesOf(isChanged ? await onlyLast(file, lastTokenOf, provider) : file);
  const signature = readSignature(model, path, given.size);
  const locations = readExternalData(model);
  if (provider === 'webgl' && locations.length > 0)
    throw new TabServeError('backend-failed', "ONNX Runtime's WebGL cannot load a model with external data.");
  if (graph && ownPath !== undefined && locations.length === 0)
    return { ...signature, model: ownPath, externalData: [] };
  const open = async (path: string, file: Blob) => ({ path, data: isLazy ? new LazyBytes(file) : await bytesOf(file) });
  const externalData = await Promise.all([
    ...locations.map(async (location) => open(location, await files.blob(besideModel(path, location)))),
    ...(graph ? [open(OWN_FILE, given)] : []),
  ]);
  return { ...signature, model, externalData };
}

async function onlyLast(file: Blob, output: string, provider: ProviderName): Promise<Blob> {
  const { withLastToken } = await loadScript(() => import('../../models/onnx/last-token.js'));
  return await withLastToken(file, output, provider === 'wasm');
}

async function bytesOf(file: Blob): Promise<Uint8Array> {
  return new Uint8Array(await file.arrayBuffer());
}

/** Reads a Blob at once, in a worker. TypeScript declares it for workers only. */
interface FileReaderSync {
  readAsArrayBuffer(blob: Blob): ArrayBuffer;
}

/** Returns whether files can be read while ONNX Runtime waits: in every browser's workers, not under Node. */
export function canReadLazily(): boolean {
  return 'FileReaderSync' in globalThis;
}

/**
 * A file that looks like an array of its bytes, and reads only the parts that it is asked for. ONNX Runtime (1.30)
 * takes external data as an array, and uses its `byteLength`, and `subarray` once for each tensor, whose bytes it copies
 * at once. So a part is freed when the next one is asked for, and the file is never in memory as a whole.
 */
export class LazyBytes extends Uint8Array {
  readonly #blob: Blob;
  #last: ArrayBuffer | undefined;

  constructor(blob: Blob) {
    super();
    this.#blob = blob;
  }

  override get byteLength(): number {
    return this.#blob.size;
  }

  override subarray(start: number, end: number): Uint8Array<ArrayBuffer> {
    const { FileReaderSync } = globalThis as unknown as { FileReaderSync: new () => FileReaderSync };
    this.free();
    this.#last = new FileReaderSync().readAsArrayBuffer(this.#blob.slice(start, end));
    return new Uint8Array(this.#last);
  }

  /** Frees the last part. */
  free(): void {
    if (this.#last) free(this.#last);
    this.#last = undefined;
  }
}

let closed: MessagePort | undefined;

/**
 * Frees a buffer: a closed port throws a message away, with what it carries. Without that, Chromium (156) keeps what
 * `FileReaderSync` has returned until its next garbage collection, also behind `transfer()`: of weights, 200 MB and more.
 */
function free(buffer: ArrayBuffer): void {
  if (!closed) {
    closed = new MessageChannel().port1;
    closed.close();
  }
  closed.postMessage(undefined, [buffer]);
}
