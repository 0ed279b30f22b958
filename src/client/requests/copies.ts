/** Copies of objects that hold bytes. */
import { isA } from './is-a.js';

type Allocate = (bytes: number) => ArrayBuffer;
type TypedArray = new (source: ArrayBuffer | Uint8Array, byteOffset?: number, length?: number) => object;

/** The prototype that those of all typed arrays inherit from. */
const typedArray = Object.getPrototypeOf(Uint8Array.prototype) as Uint8Array;

/** Its getter: the name of the built-in class, whatever class a page derives from it. */
const builtInName = Object.getOwnPropertyDescriptor(typedArray, Symbol.toStringTag)!.get as (
  this: unknown,
) => string | undefined;

/** A method that checks that the elements are there, and reads none of them. */
const typedArrayKeys = typedArray.keys as (this: object) => unknown;

/** Up to here, an array makes its copy in less time by itself. */
const SMALL_BYTES = 2 ** 13;

/**
 * Returns a copy of a typed array (of its own part of its buffer), a DataView, an ArrayBuffer or an ImageData, and anything else as it is.
 * As in a structured clone, the copy of a derived class is of the built-in one.
 * @param allocate returns a buffer of at least that many bytes, for what is not small. By default, a new buffer of exactly that size
 * @throws TypeError if the buffer has been transferred
 */
export function duplicate(value: object, allocate: Allocate = (bytes) => new ArrayBuffer(bytes)): object {
  if (value instanceof ArrayBuffer) return value.slice(0);
  if (isA('ImageData', value)) {
    return new ImageData(duplicate(value.data) as Uint8ClampedArray<ArrayBuffer>, value.width, value.height, {
      colorSpace: value.colorSpace,
    });
  }
  if (!ArrayBuffer.isView(value)) return value;
  const Class = globalThis[(builtInName.call(value) ?? 'DataView') as 'Uint8Array'] as unknown as TypedArray;
  if (value.byteLength <= SMALL_BYTES && !(value instanceof DataView)) return new Class(value as Uint8Array);
  const buffer = allocate(value.byteLength);
  new Uint8Array(buffer).set(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  return new Class(buffer, 0, (value as Partial<Uint8Array>).length ?? value.byteLength);
}

/** Returns whether a view of a resizable buffer has lost its elements because the buffer has shrunk. Such a view says that it is empty. */
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
