/** For a model whose task no handler names: which handler reads outputs like its outputs. */
import type { Archive } from '../../contract/archive.js';
import { asTabServeError, type TabServeError } from '../../contract/errors.js';
import type { OutputInfo, TensorInfo } from '../../contract/tensors.js';
import { readSignature } from '../engines/onnx/signature.js';
import { formatOf, locateFile, readModelUrl } from '../../shared/model-url.js';
import { fetchDeclared, type RequestUrl } from '../models/onnx/declared.js';
import { readGraph } from '../models/onnx/graph.js';
import { discard } from '../../shared/request-policy.js';
import { UnknownHandler } from '../handlers/registry.js';
import { withParts } from '../models/hugging-face/parts.js';

/** From so many numbers for each token, they are taken to be one for each token of a vocabulary. */
const LEAST_VOCABULARY = 1000;

/** How long a server may take. */
const MAX_WAIT_MS = 5000;

/**
 * Returns the error for a handler that there is not, with the built-in one whose outputs are like the model's, or that
 * opens its files. Of a model on a server, only the end of its file is requested, which says what it returns.
 */
export async function withNearest(error: unknown, archive: Archive, request: RequestUrl): Promise<TabServeError> {
  const own = asTabServeError(error);
  if (!(own instanceof UnknownHandler)) return own;
  try {
    const model = await readModel(archive, request);
    if (!model) return await withParts(own, { has: (path) => hasFile(archive, path, request) });
    const { inputs, outputs } = readSignature(model);
    const { handler, seen } = nearestHandler(inputs, outputs);
    return new UnknownHandler(
      own.handler,
      `By its inputs and outputs (${seen.map(describe).join(', ')}), the model is nearest to ${handler}: set the option handler to '${handler}', or connect() to a handler of your own.`,
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

/** Returns whether a repository has a file. */
async function hasFile({ url, local }: Archive, path: string, request: RequestUrl): Promise<boolean> {
  if (local) return !(local instanceof Blob) && Object.hasOwn(local, path);
  const file = locateFile(readModelUrl(url), path);
  const response = await request(file, { headers: { range: 'bytes=0-0' }, signal: AbortSignal.timeout(MAX_WAIT_MS) });
  discard(response);
  return response.ok && !/^text\/html\b/i.test(response.headers.get('content-type') ?? '');
}

/** Returns the handler that reads a model's outputs, and the outputs that show it. */
export function nearestHandler(
  inputs: readonly TensorInfo[],
  outputs: readonly OutputInfo[],
): { readonly handler: string; readonly seen: readonly OutputInfo[] } {
  const named = (name: string): OutputInfo | undefined => outputs.find((output) => output.name === name);
  const isOfTexts = inputs.some(({ name }) => name === 'input_ids');
  const isOfImages = inputs.some(({ name, dims }) => dims.length === 4 && !name.startsWith('past'));
  const isOfSound = inputs.length === 1 && inputs[0]!.name === 'input_values' && inputs[0]!.dims.length === 2;
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
  const rank = logits?.dims.length;
  const hasScores = logits?.name.includes('logits') ?? false;
  if (isOfSound && hasScores && rank === 3) return found('speech_recognizer', logits);
  if (!isOfImages && !isOfTexts) return found('base_handler', ...outputs);
  const [masks, depth] = [named('pred_masks') ?? named('masks_queries_logits'), named('predicted_depth')];
  if (isOfImages && masks) return found('instance_segmenter', logits, masks);
  if (isOfImages && boxes) return found('object_detector', logits, boxes);
  if (isOfImages && depth) return found('depth_estimator', depth);
  const heatmaps = named('heatmaps');
  if (isOfImages && heatmaps) return found('pose_landmarker', heatmaps);
  if (isOfImages && rank === 4 && !hasScores)
    return found(
      logits!.name.includes('hidden_state')
        ? 'image_feature_extractor'
        : logits!.dims[1] === 1
          ? 'background_remover'
          : 'image_to_image',
      logits,
    );
  if (isOfImages && rank === 4) return found('image_segmenter', logits);
  const [start, end] = [named('start_logits'), named('end_logits')];
  if (isOfTexts && start && end) return found('question_answerer', start, end);
  if (rank === 2) {
    const kind = isOfImages ? 'image' : 'text';
    return found(hasScores ? `${kind}_classifier` : `${kind}_feature_extractor`, logits);
  }
  if (rank !== 3) return found('base_handler', ...outputs);
  if (isOfImages) return found('image_feature_extractor', logits);
  if (!hasScores) return found('text_feature_extractor', logits);
  if (inputs.some(({ name }) => name.startsWith('past_key_values'))) return found('text_generator', logits);
  const size = logits!.dims[2];
  return found(typeof size === 'number' && size < LEAST_VOCABULARY ? 'token_classifier' : 'fill_mask', logits);
}

function isBoxes(name: string, dims: OutputInfo['dims']): boolean {
  return name.includes('box') && dims.length === 3 && (dims[2] === 4 || typeof dims[2] !== 'number');
}

function describe({ name, dims }: OutputInfo): string {
  return `"${name}" [${dims.map((size) => size ?? '?').join(', ')}]`;
}
