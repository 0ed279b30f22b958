import type { Params } from '../../contract/handler.js';
import type { ServedVersion } from '../served-version.js';
import { blobOf } from './request-body.js';

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

/** Returns the params with which a built-in handler answers in TorchServe's form; none if the config says which form its answers have. */
export function torchServeParams({ options: { description } }: ServedVersion): Params {
  const { handler, config } = description;
  const { result, output } = config.handler ?? {};
  // A map of classes has no probabilities, which TorchServe's form needs.
  if (result !== undefined || output === 'classes' || !WITH_TORCHSERVE_FORM.has(handler)) return {};
  return { result: 'torchserve' };
}

/** Returns a row for the handler: images in base64, bare or in `data` or `body`, as Blobs. @throws `invalid-input` for a string that is not base64 */
export function imagesOf({ options: { description } }: ServedVersion, row: unknown): unknown {
  if (!WITH_IMAGES.has(description.handler)) return row;
  if (typeof row === 'string') return blobOf(row);
  if (typeof row !== 'object' || row === null || row instanceof Blob) return row;
  return Object.fromEntries(
    Object.entries(row).map(([key, value]: [string, unknown]) => [
      key,
      (key === 'data' || key === 'body') && typeof value === 'string' ? blobOf(value) : value,
    ]),
  );
}
