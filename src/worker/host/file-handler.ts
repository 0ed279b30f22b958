/** The handler that a model's file names, where nothing else does. */
import type { Archive, ModelConfig } from '../../contract/archive.js';
import type { Session, TensorInfo } from '../../contract/tensors.js';
import { exportOf } from '../handlers/model-export.js';
import { mergeConfig } from '../models/config.js';
import { TASKS } from '../tasks/index.js';

/** The side of the images that Ultralytics' models are trained on, where the file does not say it. */
const USUAL_SIDE = 640;

/**
 * Returns the archive of a model with the handler that reads it, and its config, if Ultralytics' exporter has written in
 * the file what the model is; otherwise undefined. The images are prepared as Ultralytics' own predictor does it.
 * @see https://github.com/ultralytics/ultralytics/blob/main/ultralytics/data/augment.py `LetterBox`, `classify_transforms`
 */
export async function withOwnHandler(
  archive: Archive,
  { inputs, metadata }: Pick<Session, 'metadata'> & { readonly inputs: readonly TensorInfo[] },
): Promise<Archive | undefined> {
  const exported = await exportOf({ metadata });
  const { handler } = exported ?? {};
  const task = handler === undefined ? undefined : TASKS[handler];
  if (!exported || handler === undefined || !task) return undefined;
  const [height, width] = fixedSize(inputs) ?? exported.imageSize ?? [USUAL_SIDE, USUAL_SIDE];
  const steps =
    task.ultralytics === 'classify'
      ? [{ resize: height === width ? height : [height, width] }, { centerCrop: [height, width] }, 'toTensor']
      : [{ letterbox: [height, width] }, 'toTensor'];
  const decoder = task.ultralytics === 'detect' && exported.decoderOf('detect');
  const manifest = { model: { ...archive.manifest.model, handler } };
  const { imageProcessing = steps, ...own } = archive.config.handler ?? {};
  const images: ModelConfig = { handler: { imageProcessing } };
  const config = { ...archive.config, handler: own };
  // A workflow opens its model as a node.
  const [node] = Object.keys(task.nodes ?? {});
  if (node !== undefined)
    return { ...archive, manifest, config, models: {}, nodes: { [node]: { ...archive, config: images } } };
  return {
    ...archive,
    manifest,
    config: mergeConfig({ handler: { ...images.handler, ...(decoder && { decoder }) } }, config),
  };
}

/** Returns the height and width of the images that a model takes, if its file says them. */
function fixedSize([input]: readonly TensorInfo[]): readonly [number, number] | undefined {
  const [height, width] = input?.dims.slice(-2) ?? [];
  return typeof height === 'number' && typeof width === 'number' ? [height, width] : undefined;
}
