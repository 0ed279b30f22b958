import { isA } from '../../shared/is-a.js';
import { isPlainObject } from '../../shared/is-plain-object.js';
import { isBitmap, isFrame, type Picture } from './pictures.js';

/**
 * Returns a copy of `value` in which arrays and plain objects are copied, and each other object is what `replace`
 * returns for it. An object that occurs twice, or contains itself, does so in the copy too.
 */
export function mapLeaves(value: unknown, replace: (leaf: object) => unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return isContainer(value) ? mapContainer(value, replace, new Map()) : replace(value);
}

function mapContainer(value: unknown, replace: (leaf: object) => unknown, done: Map<object, unknown>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (done.has(value)) return done.get(value);
  if (!isContainer(value)) {
    const replaced = replace(value);
    done.set(value, replaced);
    return replaced;
  }
  if (Array.isArray(value)) return mapArray(value, replace, done);
  const copy = {};
  done.set(value, copy);
  for (const key of Object.keys(value)) {
    const mapped = mapContainer((value as Readonly<Record<string, unknown>>)[key], replace, done);
    // An assignment would set the copy's prototype; defining every key would take ten times as long.
    if (key === '__proto__')
      Object.defineProperty(copy, key, { value: mapped, configurable: true, enumerable: true, writable: true });
    else (copy as Record<string, unknown>)[key] = mapped;
  }
  return copy;
}

/**
 * Copies an array. Copying a list of its entries would take a hundred times as long, as a list of a million numbers
 * shows.
 */
function mapArray(
  array: readonly unknown[],
  replace: (leaf: object) => unknown,
  done: Map<object, unknown>,
): readonly unknown[] {
  const copy = array.slice();
  done.set(array, copy);
  for (let at = 0; at < copy.length; at++)
    if (typeof copy[at] === 'object') copy[at] = mapContainer(copy[at], replace, done);
  return copy;
}

/** Returns whether an object may contain inputs: an array, or an object without a class. */
function isContainer(value: object): boolean {
  return Array.isArray(value) || isPlainObject(value);
}

type TypedArray = new (source: Uint8Array) => object;

/** The prototype from which the prototypes of all typed arrays inherit. */
const typedArray = Object.getPrototypeOf(Uint8Array.prototype) as Uint8Array;

/** Its getter: the name of the built-in class, whatever class a page derives from it. */
const builtInName = Object.getOwnPropertyDescriptor(typedArray, Symbol.toStringTag)!.get as (
  this: unknown,
) => string | undefined;

/** A method that checks that the elements are there without reading them. */
const typedArrayKeys = typedArray.keys as (this: object) => unknown;

/**
 * Returns a copy of a typed array (of its own part of its buffer), a DataView, an ArrayBuffer or an ImageData, and
 * anything else as it is. As in a structured clone, the copy of a derived class is of the built-in one.
 * @throws TypeError if the buffer has been transferred
 */
export function duplicate(value: object): object {
  if (value instanceof ArrayBuffer) return value.slice(0);
  if (isA('ImageData', value)) {
    const { data, width, height, colorSpace } = value;
    // Without its pixel format, numbers of 16 bits would be refused.
    const { pixelFormat } = value as { readonly pixelFormat?: ImageDataPixelFormat };
    const settings = { colorSpace, ...(pixelFormat !== undefined && { pixelFormat }) };
    return new ImageData(duplicate(data) as Uint8ClampedArray<ArrayBuffer>, width, height, settings);
  }
  if (!ArrayBuffer.isView(value)) return value;
  const name = builtInName.call(value);
  if (name !== undefined) return new (globalThis[name as 'Uint8Array'] as TypedArray)(value as Uint8Array);
  return new DataView(new Uint8Array(value.buffer, value.byteOffset, value.byteLength).slice().buffer);
}

/**
 * Returns whether a view of a resizable buffer has lost its elements because the buffer has shrunk. Such a view says
 * that it is empty.
 */
export function isOutOfBounds(value: object): boolean {
  if (!ArrayBuffer.isView(value) || !isResizable(value.buffer)) return false;
  try {
    if (value instanceof DataView) void value.byteLength;
    else typedArrayKeys.call(value);
    return false;
  } catch {
    return true;
  }
}

function isResizable(buffer: ArrayBufferLike): boolean {
  const { resizable, growable } = buffer as { readonly resizable?: boolean; readonly growable?: boolean };
  return resizable === true || growable === true;
}

/** Returns the ArrayBuffer, or SharedArrayBuffer, of an ImageData or a view, and anything else as it is. */
export function bufferOf(value: object): object {
  const inner = isA('ImageData', value) ? value.data : value;
  return ArrayBuffer.isView(inner) ? inner.buffer : inner;
}

/** Adds what can be transferred of `value`. Shared memory stays shared. */
export function listTransferables(value: object, transferables: Set<Transferable>): void {
  const holder = bufferOf(value);
  if (isBitmap(holder) || isFrame(holder) || holder instanceof ArrayBuffer)
    transferables.add(holder as Picture | ArrayBuffer);
}
