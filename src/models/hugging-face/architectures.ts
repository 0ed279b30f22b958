import type { ModelConfig } from '../../contract/archive.js';
import { underivable, type Json } from './json.js';

const FILE = 'config.json';

/** The tasks that have a handler, by the end of an architecture's name. */
export const TASKS = [
  { ending: /ForImageClassification(WithTeacher)?$/, handler: 'image_classifier', task: 'Image classification' },
  { ending: /ForObjectDetection$/, handler: 'object_detector', task: 'Object detection' },
  { ending: /ForSemanticSegmentation$/, handler: 'image_segmenter', task: 'Semantic segmentation' },
  { ending: /ForSequenceClassification$/, handler: 'text_classifier', task: 'Text classification' },
] as const;

/** How the outputs of a detector are decoded: softmax with a class "no object", or a sigmoid for each class. */
const SOFTMAX = { decoder: 'detr' };
const SIGMOID = { decoder: { detr: { activation: 'sigmoid', multiLabel: true } } };

/** The detectors: their decoder, and the field of `config.json` with the most detections, if it is not 100. */
export const DETECTORS: Readonly<Record<string, { readonly handler: Json; readonly limit?: string }>> = {
  DetrForObjectDetection: { handler: SOFTMAX, limit: 'num_queries' },
  TableTransformerForObjectDetection: { handler: SOFTMAX, limit: 'num_queries' },
  YolosForObjectDetection: { handler: SOFTMAX, limit: 'num_detection_tokens' },
  ConditionalDetrForObjectDetection: { handler: SIGMOID },
  DeformableDetrForObjectDetection: { handler: SIGMOID },
  RTDetrForObjectDetection: { handler: SIGMOID, limit: 'num_queries' },
  RTDetrV2ForObjectDetection: { handler: SIGMOID, limit: 'num_queries' },
  DFineForObjectDetection: { handler: SIGMOID, limit: 'num_queries' },
};

/** The first of `architectures`; undefined if there is none. */
export function architectureOf({ architectures }: Json): string | undefined {
  const first: unknown = Array.isArray(architectures) ? architectures[0] : undefined;
  return typeof first === 'string' ? first : undefined;
}

/**
 * Returns the name of the handler for an architecture. If there is none, it is the architecture's own name: whoever loads the handler then reports it,
 * unless the caller has chosen another.
 */
export function handlerOf(architecture: string | undefined): string | undefined {
  return TASKS.find(({ ending }) => ending.test(architecture ?? ''))?.handler ?? architecture;
}

/**
 * Returns the keys of `handler:` that follow from `config.json`, for one of the built-in handlers.
 * @param own the caller's own keys, which win
 * @throws `model-config` naming the field from which a key cannot be derived, and the key
 */
export function handlerConfig(handler: string | undefined, config: Json, own: Json): ModelConfig['handler'] {
  if (handler === 'object_detector') return detectorConfig(config, own);
  if (handler === 'text_classifier') return textConfig(config, own);
  if (handler === 'image_classifier' && own['output'] === undefined && isSigmoid(config))
    throw underivable(
      FILE,
      ...problem(config),
      'a single label for each image: image_classifier has only softmax',
      "Set the option handler: 'vision_handler' for the model's logits, or handler.output if the model itself returns probabilities.",
    );
  return {};
}

function detectorConfig(config: Json, own: Json): ModelConfig['handler'] {
  const architecture = architectureOf(config);
  const known =
    architecture !== undefined && Object.hasOwn(DETECTORS, architecture) ? DETECTORS[architecture]! : undefined;
  if (own['decoder'] !== undefined) return {};
  if (!known)
    throw underivable(
      FILE,
      'architectures',
      config['architectures'],
      `one of ${Object.keys(DETECTORS).join(', ')}`,
      "Set handler.decoder to the format of the model's outputs.",
    );
  const limit = known.limit === undefined ? undefined : config[known.limit];
  return { ...known.handler, ...(Number.isInteger(limit) && (limit as number) > 0 && { maxDetections: limit }) };
}

/** The rules of transformers' text classification pipeline. */
function textConfig(config: Json, own: Json): ModelConfig['handler'] {
  if (config['problem_type'] === 'regression' && own['output'] === undefined)
    throw underivable(
      FILE,
      'problem_type',
      'regression',
      'a classification',
      "Set the option handler: 'text_handler' for the model's numbers.",
    );
  if (!isSigmoid(config)) return {};
  // A model of one class answers with its probability, however low it is.
  return { multiLabel: true, ...(labelsOf(config) === 1 && { threshold: 0 }) };
}

function isSigmoid(config: Json): boolean {
  return config['problem_type'] === 'multi_label_classification' || labelsOf(config) === 1;
}

function problem(config: Json): [field: string, value: unknown] {
  return labelsOf(config) === 1 ? ['id2label', config['id2label']] : ['problem_type', config['problem_type']];
}

function labelsOf({ id2label }: Json): number | undefined {
  return typeof id2label === 'object' && id2label !== null ? Object.keys(id2label).length : undefined;
}
