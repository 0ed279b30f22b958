import type { InferenceSession } from 'onnxruntime-web';
import type { BlobFiles } from '../../../contract/archive.js';
import { TabServeError } from '../../../contract/errors.js';
import { loadScript } from '../../../shared/load-script.js';
import { besideModel, readExternalTensors } from '../../models/onnx/external-data.js';
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
  const tensors = readExternalTensors(model);
  const locations = new Set(tensors.map(({ location }) => location));
  locations.delete(OWN_FILE);
  if (provider === 'webgl' && locations.size > 0)
    throw new TabServeError('backend-failed', "ONNX Runtime's WebGL cannot load a model with external data.");
  if (graph && ownPath !== undefined && locations.size === 0) return { ...signature, model: ownPath, externalData: [] };
  const lazy = isLazy && (graph || locations.size > 0) ? await loadScript(() => import('./lazy-bytes.js')) : undefined;
  const open = async (location: string, file: Blob) => {
    if (!lazy) return { path: location, data: await bytesOf(file) };
    const own = tensors.filter((tensor) => tensor.location === location);
    return { path: location, data: new lazy.LazyBytes(file, own) };
  };
  const externalData = await Promise.all([
    ...[...locations].map(async (location) => open(location, await files.blob(besideModel(path, location)))),
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

/** Returns whether files can be read while ONNX Runtime waits: in every browser's workers, not under Node. */
export function canReadLazily(): boolean {
  return 'FileReaderSync' in globalThis;
}
