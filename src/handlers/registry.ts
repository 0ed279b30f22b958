import type { Handler } from '../contract/handler.js';
import { TabServeError } from '../contract/errors.js';
import type { BaseHandler } from './base-handler.js';
import type { ImageClassifier } from './image-classifier.js';
import type { ObjectDetector } from './object-detector.js';
import type { TextClassifier } from './text-classifier.js';
import type { TextHandler } from './text-handler.js';
import type { ImageSegmenter } from './image-segmenter.js';
import type { VisionHandler } from './vision-handler.js';

/** The built-in handlers by the names that an archive's manifest gives them. */
export interface HandlerRegistry {
  base_handler: BaseHandler;
  vision_handler: VisionHandler;
  image_classifier: ImageClassifier;
  object_detector: ObjectDetector;
  text_handler: TextHandler;
  text_classifier: TextClassifier;
  image_segmenter: ImageSegmenter;
}
export type HandlerName = keyof HandlerRegistry;

/** The handler class of a name; of no certain name, any handler. */
export type HandlerOf<Name extends HandlerName> = [HandlerName] extends [Name] ? Handler : HandlerRegistry[Name];

/** Each handler is a chunk of its own. */
const loaders: { readonly [Name in HandlerName]: () => Promise<new () => HandlerRegistry[Name]> } = {
  base_handler: async () => (await import('./base-handler.js')).BaseHandler,
  vision_handler: async () => (await import('./vision-handler.js')).VisionHandler,
  image_classifier: async () => (await import('./image-classifier.js')).ImageClassifier,
  object_detector: async () => (await import('./object-detector.js')).ObjectDetector,
  text_handler: async () => (await import('./text-handler.js')).TextHandler,
  text_classifier: async () => (await import('./text-classifier.js')).TextClassifier,
  image_segmenter: async () => (await import('./image-segmenter.js')).ImageSegmenter,
};

export const HANDLER_NAMES = Object.keys(loaders) as readonly HandlerName[];

/** @throws `unknown-handler`, which says what there is */
export async function loadHandler(name: string | undefined): Promise<new () => HandlerRegistry[HandlerName]> {
  const known = `There is ${HANDLER_NAMES.join(', ')}`;
  if (name === undefined)
    throw new TabServeError(
      'unknown-handler',
      `No handler is named, neither by the archive's manifest nor by the option \`handler\`. ${known}.`,
    );
  if (Object.hasOwn(loaders, name)) return await loaders[name as HandlerName]();
  const advice = /\.py\b|:/.test(name)
    ? 'A Python handler does not run in a browser: write its stages as a class in a worker of your own, and connect() to it.'
    : `${known}; one of your own is reached with connect().`;
  throw new TabServeError('unknown-handler', `No handler "${name}". ${advice}`);
}
