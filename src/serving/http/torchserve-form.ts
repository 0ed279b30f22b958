import type { Params } from '../../contract/handler.js';
import type { ServedVersion } from '../served-version.js';
import { shorten } from '../../contract/describe-value.js';
import { badRequest } from '../serving-error.js';
import { blobOf } from './base64.js';

/** The built-in handlers whose param `result` selects TorchServe's form of an answer. A unit test compares the list with the handlers' schemas. */
export const WITH_TORCHSERVE_FORM: ReadonlySet<string> = new Set([
  'image_classifier',
  'image_segmenter',
  'object_detector',
  'text_classifier',
]);

/** The built-in handlers that take images. TorchServe's handlers of images read a string as base64; others read it as text. */
export const WITH_IMAGES: ReadonlySet<string> = new Set([
  'vision_handler',
  'image_classifier',
  'image_segmenter',
  'object_detector',
  'image_feature_extractor',
  'image_to_image',
  'text_detector',
  'text_orienter',
  'text_reader',
  'text_recognizer',
]);

/** The built-in handlers of texts and of audio. */
export const WITH_OTHERS: ReadonlySet<string> = new Set([
  'text_handler',
  'text_classifier',
  'text_feature_extractor',
  'audio_handler',
  'voice_activity_detector',
]);

/** What an object has that is an input of a built-in handler: the field of a form, or what the app's own code sends. */
const INPUT_KEYS = ['data', 'body', 'text', 'samples'];

/** Returns the params with which a built-in handler answers in TorchServe's form; none if the config says which form its answers have. */
export function torchServeParams({ options: { description } }: ServedVersion): Params {
  const { handler, config } = description;
  const { result, output } = config.handler ?? {};
  // A map of classes has no probabilities, which TorchServe's form needs.
  if (result !== undefined || output === 'classes' || !WITH_TORCHSERVE_FORM.has(handler)) return {};
  return { result: 'torchserve' };
}

/**
 * Returns a row for the handler. A built-in handler gets the field `data` or `body` of a form, and no other one, as TorchServe's do; and images in base64, bare or in that field,
 * as Blobs.
 * @throws `invalid-input` for a string that is not base64, and for an object without such a field
 */
export function rowOf({ options: { name, description } }: ServedVersion, row: unknown): unknown {
  const isOfImages = WITH_IMAGES.has(description.handler);
  if (!isOfImages && !WITH_OTHERS.has(description.handler)) return row;
  if (typeof row === 'string') return isOfImages ? blobOf(row) : row;
  if (typeof row !== 'object' || row === null || row instanceof Blob) return row;
  const { data, body = data } = row as { readonly data?: unknown; readonly body?: unknown };
  const value = data ?? body;
  if (!INPUT_KEYS.some((key) => key in row)) {
    const got = Array.isArray(row) ? 'a list' : shorten(Object.keys(row).join(', ')) || 'nothing';
    throw badRequest(
      `Expected the field "data" or "body", got ${got}. A file or a text that is the whole body needs its own Content-Type (curl -T FILE): what curl sends with -d is a form.`,
    );
  }
  if (Array.isArray(value) && value.some((one) => one instanceof Blob))
    throw badRequest(`Expected one input, got ${value.length}. /v1/models/${name}:predict takes several.`);
  if (typeof value === 'string') return { data: isOfImages ? blobOf(value) : value };
  // Numbers have dims beside them.
  return value instanceof Blob ? { data: value } : row;
}
