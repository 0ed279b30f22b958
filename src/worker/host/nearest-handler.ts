/** For a model whose task no handler names: which handler reads outputs like its outputs. */
import type { Archive } from '../../contract/archive.js';
import { asTabServeError, TabServeError } from '../../contract/errors.js';
import type { OutputInfo, TensorInfo } from '../../contract/tensors.js';
import { readSignature } from '../engines/onnx/signature.js';
import { formatOf, locateFile, readModelUrl } from '../../shared/model-url.js';
import { fetchDeclared, type RequestUrl } from '../models/onnx/declared.js';
import { readGraph } from '../models/onnx/graph.js';

/** From so many numbers for each token, they are taken to be one for each token of a vocabulary. */
const LEAST_VOCABULARY = 1000;

/** How long a server may take. */
const MAX_WAIT_MS = 5000;

/**
 * Returns the error for a handler that there is not, with the built-in one whose outputs are like the model's. Of a model
 * on a server, only the end of its file is requested, which says what it returns.
 */
export async function withNearest(error: unknown, archive: Archive, request: RequestUrl): Promise<TabServeError> {
  const own = asTabServeError(error);
  if (own.code !== 'unknown-handler') return own;
  try {
    const model = await readModel(archive, request);
    if (!model) return own;
    const { inputs, outputs } = readSignature(model);
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

/** Returns a model's file, as far as `readSignature` needs it; undefined if it is not at hand. */
async function readModel(
  { url, local, alternatives, models }: Archive,
  request: RequestUrl,
): Promise<Uint8Array | undefined> {
  const paths = alternatives?.map(({ path }) => path) ?? [models.onnx].filter((path) => path !== undefined);
  if (local instanceof Blob || paths.length === 0) return undefined;
  if (!local && !URL.canParse(url)) return undefined;
  if (!local) {
    const [location, signal] = [readModelUrl(url), AbortSignal.timeout(MAX_WAIT_MS)];
    // Which of the precisions are there shows when they are asked for.
    for (const path of paths.filter((one) => formatOf(one) === 'onnx')) {
      const declared = await fetchDeclared(locateFile(location, path), request, signal);
      if (declared) return declared;
    }
    return undefined;
  }
  const file = local[paths[0]!];
  return file && ((await readGraph(file)) ?? new Uint8Array(await file.arrayBuffer()));
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
