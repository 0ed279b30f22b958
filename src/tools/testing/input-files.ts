import { TabServeError } from '../../contract/errors.js';

/** A file's bytes, and where they were in the input: the keys that lead to them. None, if they are the input. */
export interface InputFile {
  readonly path: readonly string[];
  readonly bytes: Uint8Array;
}

/**
 * Takes the bytes of files out of an input, in whatever lists and objects they are: the rest crosses to the page as
 * JSON, and the page downloads the files.
 * @returns the rest, with null for each file
 * @throws `invalid-input` for a Blob or an ArrayBuffer, which would cross as an empty object
 */
export function takeFiles(input: unknown): { readonly value: unknown; readonly files: readonly InputFile[] } {
  const files: InputFile[] = [];
  const take = (value: unknown, path: readonly string[]): unknown => {
    if (value instanceof Uint8Array) {
      files.push({ path, bytes: value });
      return null;
    }
    if (value instanceof Blob || value instanceof ArrayBuffer) {
      const what = `${['input', ...path].join('.')} is ${value instanceof Blob ? 'a Blob' : 'an ArrayBuffer'}`;
      throw new TabServeError('invalid-input', `${what}: pass a file as its bytes, a Uint8Array, as readFile returns.`);
    }
    if (Array.isArray(value)) return value.map((item, index) => take(item, [...path, String(index)]));
    if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, take(item, [...path, key])]));
  };
  return { value: take(input, []), files };
}
