import type { InferenceSession } from 'onnxruntime-web';
import type { BlobFiles } from '../../contract/archive.js';
import { TabServeError } from '../../contract/errors.js';
import { besideModel, readExternalData } from '../../shared/onnx-external-data.js';
import { OWN_FILE, readSkeleton } from '../../shared/onnx-skeleton.js';
import type { ProviderName } from './engine.js';
import { canReadLazily, LazyBytes } from './lazy-bytes.js';
import { readSignature, type Signature } from './signature.js';

/** What a session is created from. */
export interface ModelParts extends Signature {
  readonly model: Uint8Array;
  /** The files of the model's large tensors. */
  readonly externalData: NonNullable<InferenceSession.SessionOptions['externalData']>;
}

/**
 * Reads a model. On WASM, a large model's weights are given to ONNX Runtime as external data, which it reads straight to where it computes: given as one piece, the model
 * is in memory four times while it loads, as the file, as ONNX Runtime's copy of it, as the parsed file, and as weights.
 * @throws `model-not-found`, `model-format`, `unsupported`; `backend-failed` on WebGL, which cannot load external data
 */
export async function readModel(provider: ProviderName, files: BlobFiles, path: string): Promise<ModelParts> {
  const file = await files.blob(path);
  const isLazy = provider === 'wasm' && canReadLazily();
  const skeleton = isLazy ? await readSkeleton(file) : undefined;
  const model = skeleton ?? (await bytesOf(file));
  const signature = readSignature(model, path);
  const locations = readExternalData(model);
  if (provider === 'webgl') {
    if (locations.length > 0)
      throw new TabServeError('backend-failed', "ONNX Runtime's WebGL cannot load a model with external data.");
    return { ...signature, model: (await import('./widen-weights.js')).widenWeights(model), externalData: [] };
  }
  const open = async (path: string, file: Blob) => ({ path, data: isLazy ? new LazyBytes(file) : await bytesOf(file) });
  const externalData = await Promise.all([
    ...locations.map(async (location) => open(location, await files.blob(besideModel(path, location)))),
    ...(skeleton ? [open(OWN_FILE, file)] : []),
  ]);
  return { ...signature, model, externalData };
}

async function bytesOf(file: Blob): Promise<Uint8Array> {
  return new Uint8Array(await file.arrayBuffer());
}
