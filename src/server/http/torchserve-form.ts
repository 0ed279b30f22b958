import type { Params } from '../../contract/handler.js';
import type { ServedVersion } from '../served-version.js';
import { shorten } from '../../contract/describe-value.js';
import { badRequest } from '../serving-error.js';
import { blobOf } from './base64.js';

/** The keys under which an object has an image, a text or audio: fields of a form, or what the app's own code sends. */
const INPUT_KEYS = ['data', 'body', 'text', 'samples'];

/**
 * Returns the params with which a handler answers in TorchServe's form; none if it has no such form, or if the config
 * says which form its answers have.
 */
export function torchServeParams({ options: { description } }: ServedVersion): Params {
  const { resultForms = [], config } = description;
  const { result, output } = config.handler ?? {};
  // A map of classes has no probabilities, which TorchServe's form needs.
  if (result !== undefined || output === 'classes' || !resultForms.includes('torchserve')) return {};
  return { result: 'torchserve' };
}

/**
 * Returns the rows for the handler, as `rowOf` does: several, if the field `data` or `body` of a form came several times
 * with files, and the handler takes images, texts or audio.
 * @throws `invalid-input`
 */
export function rowsOf(served: ServedVersion, input: unknown, isForm: boolean): readonly unknown[] {
  const files = severalFiles(input);
  const takesOne = (served.options.description.takes ?? 'tensors') !== 'tensors';
  return files && takesOne ? files.map((data) => rowOf(served, { data })) : [rowOf(served, input, isForm)];
}

function severalFiles(input: unknown): readonly Blob[] | undefined {
  if (typeof input !== 'object' || input === null || input instanceof Blob) return undefined;
  const { data, body = data } = input as { readonly data?: unknown; readonly body?: unknown };
  const value = data ?? body;
  return Array.isArray(value) && value.length > 0 && value.every((one) => one instanceof Blob) ? value : undefined;
}

/**
 * Returns a row for the handler. One of images, texts or audio gets the field `data` or `body` of a form, and no other
 * one, as TorchServe's handlers do; unless it is an object for a handler that takes more, such as { image, points }. A string is base64 for a handler of images, and a text for others.
 * @throws `invalid-input` for a string that is not base64, and for an object without such a field
 */
export function rowOf({ options: { name, description } }: ServedVersion, row: unknown, isForm = false): unknown {
  const { takes = 'tensors' } = description;
  if (takes === 'tensors') return row;
  const isOfImages = takes === 'image';
  if (typeof row === 'string') return isOfImages ? blobOf(row) : row;
  if (typeof row !== 'object' || row === null || row instanceof Blob) return row;
  const { data, body = data } = row as { readonly data?: unknown; readonly body?: unknown };
  const value = data ?? body;
  if (!INPUT_KEYS.some((key) => key in row)) {
    if ('instances' in row)
      throw badRequest(`Expected one input, got "instances". /v1/models/${name}:predict takes instances.`);
    // A handler of images may take more, such as { image, points }.
    if (isOfImages && 'image' in row) {
      const { image } = row;
      return typeof image === 'string' ? { ...row, image: blobOf(image) } : row;
    }
    // A handler of texts may take more, such as { question, context }. A text that curl has sent as a form is a key
    // without a value.
    const values: readonly unknown[] = Object.values(row);
    const isObject =
      values.length > 0 && !Array.isArray(row) && !values.some((one) => (isForm && one === '') || one instanceof Blob);
    if (takes === 'text' && isObject) return row;
    const got = Array.isArray(row) ? 'a list' : shorten(Object.keys(row).join(', ')) || 'nothing';
    throw badRequest(
      `Expected the field "data" or "body", got ${got}. A file or a text that is the whole body needs its own Content-Type (curl -T FILE): what curl sends with -d or --data-binary is a form.`,
    );
  }
  if (typeof value === 'string') return { data: isOfImages ? blobOf(value) : value };
  // Numbers come with dims.
  return value instanceof Blob ? { data: value } : row;
}
