/** For a model whose task no handler names: which handler reads outputs like its outputs. */
import type { Archive } from '../../contract/archive.js';
import { asTabServeError, TabServeError } from '../../contract/errors.js';
import type { OutputInfo, TensorInfo } from '../../contract/tensors.js';
import { readSignature } from '../engines/onnx/signature.js';
import { readGraph } from '../models/onnx/graph.js';

/** From so many numbers for each token, they are taken to be one for each token of a vocabulary. */
const LEAST_VOCABULARY = 1000;

/**
 * Returns the error for a handler that there is not, with the built-in one whose outputs are like the model's, if the
 * archive's files are at hand: nothing is downloaded for it.
 */
export async function withNearest(error: unknown, { local, alternatives, models }: Archive): Promise<TabServeError> {
  const own = asTabServeError(error);
  const path = alternatives?.[0]?.path ?? models.onnx;
  const file = local instanceof Blob || path === undefined ? undefined : local?.[path];
  if (own.code !== 'unknown-handler' || !file) return own;
  try {
    const { inputs, outputs } = readSignature(
      (await readGraph(file)) ?? new Uint8Array(await file.arrayBuffer()),
      path,
    );
    const { handler, seen } = nearestHandler(inputs, outputs);
    return new TabServeError(
      'unknown-handler',
      `${own.message} By its inputs and outputs (${seen.map(describe).join(', ')}), it is nearest to ${handler}: set the option handler to '${handler}'.`,
      { cause: own.cause },
    );
  } catch {
    // The model cannot be read; that the handler is unknown comes first.
    return own;
  }
}

/** Returns the handler that reads a model's outputs, and the outputs that show it. */
export function nearestHandler(
  inputs: readonly TensorInfo[],
  outputs: readonly OutputInfo[],
): { readonly handler: string; readonly seen: readonly OutputInfo[] } {
  const named = (name: string): OutputInfo | undefined => outputs.find((output) => output.name === name);
  const isOfTexts = inputs.some(({ name }) => name === 'input_ids');
  const isOfImages = inputs.some(({ name, dims }) => dims.length === 4 && !name.startsWith('past'));
  const [boxes, logits] = [outputs.find(({ name, dims }) => isBoxes(name, dims)), named('logits') ?? outputs[0]];
  const found = (handler: string, ...seen: (OutputInfo | undefined)[]) => ({
    handler,
    seen: seen.filter((one) => one !== undefined),
  });
  if (isOfImages && isOfTexts) {
    const scores = named('logits_per_image');
    if (scores) return found('zero_shot_image_classifier', scores);
    return boxes ? found('zero_shot_object_detector', logits, boxes) : found('base_handler', ...outputs);
  }
  if (!isOfImages && !isOfTexts) return found('base_handler', ...outputs);
  if (isOfImages && boxes) return found('object_detector', logits, boxes);
  const rank = logits?.dims.length;
  const hasScores = logits?.name.includes('logits') ?? false;
  if (isOfImages && rank === 4) return found(hasScores ? 'image_segmenter' : 'image_to_image', logits);
  if (rank === 2) {
    const kind = isOfImages ? 'image' : 'text';
    return found(hasScores ? `${kind}_classifier` : `${kind}_feature_extractor`, logits);
  }
  if (rank !== 3) return found('base_handler', ...outputs);
  if (isOfImages) return found('image_feature_extractor', logits);
  if (!hasScores) return found('text_feature_extractor', logits);
  if (inputs.some(({ name }) => name.startsWith('past_key_values'))) return found('text_generator', logits);
  const size = logits!.dims[2];
  return found(typeof size === 'number' && size < LEAST_VOCABULARY ? 'base_handler' : 'fill_mask', logits);
}

function isBoxes(name: string, dims: OutputInfo['dims']): boolean {
  return name.includes('box') && dims.length === 3 && (dims[2] === 4 || typeof dims[2] !== 'number');
}

function describe({ name, dims }: OutputInfo): string {
  return `"${name}" [${dims.map((size) => size ?? '?').join(', ')}]`;
}
