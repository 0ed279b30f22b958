/** The detectors of Hugging Face's transformers. */
import { HF_CONFIG } from '../../../shared/model-url.js';
import { architectureOf, underivable, type Json } from '../../../shared/hugging-face.js';

/** How the outputs of a detector are decoded: softmax with a class "no object", or a sigmoid for each class. */
const SOFTMAX = { decoder: 'detr' };
const SIGMOID = { decoder: { detr: { activation: 'sigmoid', multiLabel: true } } };

/** Models without a padding mask, whose boxes are nevertheless fractions of the image alone, as in transformers. */
const OF_IMAGE = { boxesOf: 'image' };

/** The detectors: their decoder, and the field of `config.json` with the most detections, if it is not 100. */
export const DETECTORS: Readonly<Record<string, { readonly handler: Json; readonly limit?: string }>> = {
  DetrForObjectDetection: { handler: SOFTMAX, limit: 'num_queries' },
  TableTransformerForObjectDetection: { handler: SOFTMAX, limit: 'num_queries' },
  YolosForObjectDetection: { handler: { ...SOFTMAX, ...OF_IMAGE }, limit: 'num_detection_tokens' },
  ConditionalDetrForObjectDetection: { handler: SIGMOID },
  DabDetrForObjectDetection: { handler: SIGMOID },
  DeformableDetrForObjectDetection: { handler: SIGMOID },
  RTDetrForObjectDetection: { handler: { ...SIGMOID, ...OF_IMAGE }, limit: 'num_queries' },
  RTDetrV2ForObjectDetection: { handler: { ...SIGMOID, ...OF_IMAGE }, limit: 'num_queries' },
  DFineForObjectDetection: { handler: { ...SIGMOID, ...OF_IMAGE }, limit: 'num_queries' },
  Deimv2ForObjectDetection: { handler: { ...SIGMOID, ...OF_IMAGE }, limit: 'num_queries' },
  LwDetrForObjectDetection: { handler: SIGMOID },
  RfDetrForObjectDetection: { handler: { ...SIGMOID, ...OF_IMAGE }, limit: 'num_queries' },
  // The name that transformers.js has for it.
  RFDetrForObjectDetection: { handler: { ...SIGMOID, ...OF_IMAGE }, limit: 'num_queries' },
};

/** The maximum of `maxDetections`. */
const MAX_DETECTIONS = 3000;

/** Returns the keys of `handler:` that follow from a detector's `config.json`: see `HuggingFaceTask`. */
export function detectorConfig(config: Json, own: Json): Json {
  if (own['decoder'] !== undefined) return {};
  const architecture = architectureOf(config) ?? '';
  if (!Object.hasOwn(DETECTORS, architecture))
    throw underivable(
      HF_CONFIG,
      'architectures',
      config['architectures'],
      `one of ${Object.keys(DETECTORS).join(', ')}`,
      "Set handler.decoder to the format of the model's outputs.",
    );
  const { handler, limit } = DETECTORS[architecture]!;
  const most = limit === undefined ? undefined : config[limit];
  return {
    ...handler,
    ...(Number.isInteger(most) && (most as number) > 0 && { maxDetections: Math.min(most as number, MAX_DETECTIONS) }),
  };
}
