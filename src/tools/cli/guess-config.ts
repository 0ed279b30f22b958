/** Guesses a model's config from its inputs and outputs, and says what of it no file tells. */
import type { ModelConfig } from '../../contract/archive.js';
import type { OutputInfo, Session, TensorInfo } from '../../contract/tensors.js';

/** A config, with what it assumes. */
export interface GuessedConfig {
  readonly config: ModelConfig;
  /** In sentences for comments of the config. */
  readonly assumed: readonly string[];
}

type Dim = TensorInfo['dims'][number];
type Step = string | Readonly<Record<string, unknown>>;

/** The handlers whose transforms depend on the model; others have their own, or none. */
const OF_PHOTOS = new Set([
  'image_classifier',
  'image_feature_extractor',
  'image_segmenter',
  'background_remover',
  'depth_estimator',
  'image_to_image',
  'object_detector',
  'instance_segmenter',
]);
/** Those that are usually trained on the middle of a photo. */
const CROPPED = new Set(['image_classifier', 'image_feature_extractor']);
/** Which part of a photo's shorter side the crop is, in torchvision's presets: 224 of 256. */
const CROP = 224 / 256;
const IMAGENET = { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] };

/** Returns what a config says of a model that a handler opens. */
export function guessConfig(handler: string, { inputs, outputs }: Pick<Session, 'inputs' | 'outputs'>): GuessedConfig {
  const image = inputs.find(({ dims }) => dims.length === 4);
  if (!OF_PHOTOS.has(handler) || !image) return { config: {}, assumed: [] };
  const decoder = handler === 'object_detector' ? decoderOf(outputs, image) : undefined;
  const { steps, assumed } = imageSteps(handler, image, decoder);
  const output = kindOf(handler, outputs[0]!);
  const own = {
    imageProcessing: steps,
    ...(decoder !== undefined && { decoder }),
    ...(output !== undefined && { output }),
  };
  if (decoder === 'yolox')
    assumed.push(
      'decoder: yolox, as of its own export; if that has decoded the boxes, yolov5 (and toTensor, without BGR).',
    );
  if (decoder === 'ssd') assumed.push('decoder: ssd also needs its anchors: docs/model-config.md#ssdlite.');
  return { config: { handler: own }, assumed };
}

function imageSteps(
  handler: string,
  image: TensorInfo,
  decoder: string | undefined,
): { steps: Step[]; assumed: string[] } {
  const { channels, height, width, isLast } = layoutOf(image);
  const isYolo = decoder !== undefined && ['yolov5', 'yolov8', 'yolox', 'rows'].includes(decoder);
  const isCropped = CROPPED.has(handler) && channels !== 1 && (height === width || height === undefined);
  const usual = isYolo ? 640 : isCropped ? 224 : 512;
  const size = [height ?? usual, width ?? usual] as const;
  // A model that makes pixels takes a photo of any size as it is.
  const keepsSize = decoder === 'torchvision' || (handler === 'image_to_image' && height === undefined);
  const isOfPixels = ['uint8', 'int32'].includes(image.dtype) || decoder === 'yolox';
  const normalize = isLast ? { mean: 0.5, std: 0.5 } : IMAGENET;
  const isNormalized =
    channels !== 1 && !isOfPixels && !isYolo && decoder !== 'torchvision' && handler !== 'image_to_image';
  const steps: Step[] = [];
  if (channels === 1) steps.push('grayscale');
  if (decoder === 'yolox') steps.push({ letterbox: { size, position: 'top-left' } }, { colorOrder: 'BGR' });
  else if (isYolo) steps.push({ letterbox: size });
  else if (isCropped) steps.push({ resize: Math.round(size[0] / CROP) }, { centerCrop: size[0] });
  else if (!keepsSize) steps.push({ resize: size });
  steps.push(isOfPixels ? { toTensor: 1 } : 'toTensor');
  if (isNormalized) steps.push({ normalize });
  if (isLast) steps.push({ layout: 'NHWC' });
  const assumed: string[] = [];
  if (isNormalized)
    assumed.push(
      `normalize: ${isLast ? 'to -1..1, as of most models of Keras' : "ImageNet's"}. Without it: 0..1; toTensor: 1 means 0..255.`,
    );
  else if (!isOfPixels && !isYolo) assumed.push('toTensor: numbers in 0..1. toTensor: 1 means 0..255.');
  if (isCropped)
    assumed.push(`resize and centerCrop: as in torchvision; resize: [${size.join(', ')}] takes the whole photo.`);
  if (height === undefined && !keepsSize) assumed.push(`${size.join(' x ')}: the model takes any size.`);
  return { steps, assumed };
}

/** Returns the channels and the size of an image's tensor; undefined where it is dynamic. */
function layoutOf({ dims }: TensorInfo): {
  readonly channels: number | undefined;
  readonly height: number | undefined;
  readonly width: number | undefined;
  readonly isLast: boolean;
} {
  const isChannels = (size: Dim | undefined): boolean => size === 1 || size === 3;
  const isLast = isChannels(dims[3]) && !isChannels(dims[1]);
  const [channels, height, width] = (isLast ? [dims[3], dims[1], dims[2]] : dims.slice(1)).map((size) =>
    typeof size === 'number' ? size : undefined,
  );
  return height === undefined || width === undefined
    ? { channels, height: undefined, width: undefined, isLast }
    : { channels, height, width, isLast };
}

/** Models like DETR have a few hundred queries, and SSDs thousands of anchors. */
const MAX_QUERIES = 1500;
/** The strides of YOLO's feature maps. */
const STRIDES = [8, 16, 32];

/** Returns the decoder of a detector's outputs. */
function decoderOf(outputs: readonly OutputInfo[], image: TensorInfo): string {
  const names = outputs.map(({ name }) => name);
  if (['boxes', 'scores', 'labels'].every((name) => names.includes(name))) return 'torchvision';
  if (names.some((name) => name.includes('logits')) && names.some((name) => name.includes('box')))
    return outputs.some(({ dims: [, rows] }) => typeof rows === 'number' && rows > MAX_QUERIES) ? 'ssd' : 'detr';
  const [rows, columns] = outputs[0]!.dims.slice(-2);
  if (columns === 6) return 'rows';
  if (typeof rows !== 'number' || typeof columns !== 'number' || rows < columns) return 'yolov8';
  const { height, width } = layoutOf(image);
  // Three boxes at each point are YOLOv5's, one is YOLOX's.
  const points = STRIDES.reduce((sum, stride) => sum + Math.ceil(height! / stride) * Math.ceil(width! / stride), 0);
  return rows === points ? 'yolox' : 'yolov5';
}

/** Returns what an output holds, for the handlers that must know it. */
function kindOf(handler: string, { name, op, dtype }: OutputInfo): string | undefined {
  if (!['image_classifier', 'image_segmenter'].includes(handler)) return undefined;
  if (handler === 'image_segmenter' && (op === 'ArgMax' || dtype?.includes('int') === true)) return 'classes';
  return /^(?:softmax|sigmoid)$/i.test(op ?? '') || /softmax|prob/i.test(name) ? 'probabilities' : 'logits';
}
