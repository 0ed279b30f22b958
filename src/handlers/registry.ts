import type { Handler } from '../contract/handler.js';
import { TabServeError } from '../contract/errors.js';
import { shorten } from '../contract/describe-value.js';
import type { BaseHandler } from './base-handler.js';
import type { ImageClassifier } from './image-classifier.js';
import type { ObjectDetector } from './object-detector.js';
import type { TextClassifier } from './text-classifier.js';
import type { TextHandler } from './text-handler.js';
import type { ImageFeatureExtractor } from './image-feature-extractor.js';
import type { ImageToImage } from './image-to-image.js';
import type { ImageSegmenter } from './image-segmenter.js';
import type { TextFeatureExtractor } from './text-feature-extractor.js';
import type { AudioHandler } from './audio-handler.js';
import type { TextDetector } from './text-detector.js';
import type { TextOrienter } from './text-orienter.js';
import type { TextReader } from './text-reader.js';
import type { TextRecognizer } from './text-recognizer.js';
import type { VisionHandler } from './vision-handler.js';
import type { VoiceActivityDetector } from './voice-activity-detector.js';

/** The built-in handlers by the name that an archive's manifest uses. */
export interface HandlerRegistry {
  base_handler: BaseHandler;
  vision_handler: VisionHandler;
  image_classifier: ImageClassifier;
  object_detector: ObjectDetector;
  text_handler: TextHandler;
  text_classifier: TextClassifier;
  image_segmenter: ImageSegmenter;
  text_feature_extractor: TextFeatureExtractor;
  image_feature_extractor: ImageFeatureExtractor;
  image_to_image: ImageToImage;
  audio_handler: AudioHandler;
  voice_activity_detector: VoiceActivityDetector;
  text_reader: TextReader;
  text_detector: TextDetector;
  text_orienter: TextOrienter;
  text_recognizer: TextRecognizer;
}
export type HandlerName = keyof HandlerRegistry;

/** The handler class of a name, or any handler if the name is not known at compile time. */
export type HandlerOf<Name extends HandlerName> = [HandlerName] extends [Name] ? Handler : HandlerRegistry[Name];

/** The loaders of the handlers. Each dynamic import makes a chunk of its own. */
const loaders: { readonly [Name in HandlerName]: () => Promise<new () => HandlerRegistry[Name]> } = {
  base_handler: async () => (await import('./base-handler.js')).BaseHandler,
  vision_handler: async () => (await import('./vision-handler.js')).VisionHandler,
  image_classifier: async () => (await import('./image-classifier.js')).ImageClassifier,
  object_detector: async () => (await import('./object-detector.js')).ObjectDetector,
  text_handler: async () => (await import('./text-handler.js')).TextHandler,
  text_classifier: async () => (await import('./text-classifier.js')).TextClassifier,
  image_segmenter: async () => (await import('./image-segmenter.js')).ImageSegmenter,
  text_feature_extractor: async () => (await import('./text-feature-extractor.js')).TextFeatureExtractor,
  image_feature_extractor: async () => (await import('./image-feature-extractor.js')).ImageFeatureExtractor,
  image_to_image: async () => (await import('./image-to-image.js')).ImageToImage,
  audio_handler: async () => (await import('./audio-handler.js')).AudioHandler,
  voice_activity_detector: async () => (await import('./voice-activity-detector.js')).VoiceActivityDetector,
  text_reader: async () => (await import('./text-reader.js')).TextReader,
  text_detector: async () => (await import('./text-detector.js')).TextDetector,
  text_orienter: async () => (await import('./text-orienter.js')).TextOrienter,
  text_recognizer: async () => (await import('./text-recognizer.js')).TextRecognizer,
};

export const HANDLER_NAMES = Object.keys(loaders) as readonly HandlerName[];

/** Loads the handler class of a name. @throws `unknown-handler` with the names of the built-in handlers */
export async function loadHandler(name: string | undefined): Promise<new () => HandlerRegistry[HandlerName]> {
  const available = `The built-in handlers are ${HANDLER_NAMES.join(', ')}`;
  if (name === undefined)
    throw new TabServeError(
      'unknown-handler',
      `Neither the archive (its manifest, or \`architectures\` in config.json) nor the option \`handler\` names a handler. ${available}.`,
    );
  if (Object.hasOwn(loaders, name)) return await loaders[name as HandlerName]();
  const advice = /\.py\b|:/.test(name)
    ? `A Python handler does not run in a browser. Write its stages as a class in a worker of your own, and connect() to it; or name a built-in handler in the option \`handler\`. ${available}.`
    : /^[A-Z]\w*(For[A-Z]|Model$)/.test(name)
      ? `It is the architecture that config.json names, and none of the built-in handlers is for its task. ${available}. Set the option \`handler\` to one of them, such as base_handler for the model's tensors or text_feature_extractor for a text's features, or connect() to a handler of your own.`
      : `${available}. Use connect() for a handler of your own.`;
  throw new TabServeError('unknown-handler', `There is no built-in handler "${shorten(name)}". ${advice}`);
}
