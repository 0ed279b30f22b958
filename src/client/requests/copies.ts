/** Copies of what holds bytes. */

type Allocate = (bytes: number) => ArrayBuffer;
type TypedArray = new (buffer: ArrayBuffer, byteOffset: number, length?: number) => object;

/**
 * A copy of a typed array (its own part of its buffer), an ArrayBuffer or an ImageData; anything else as it is.
 * @param allocate gives a buffer of at least so many bytes; one of just the size if not given
 * @throws TypeError if the buffer has been transferred
 */
export function duplicate(value: object, allocate: Allocate = (bytes) => new ArrayBuffer(bytes)): object {
  if (value instanceof ArrayBuffer) return value.slice(0);
  if (typeof ImageData !== 'undefined' && value instanceof ImageData) {
    return new ImageData(duplicate(value.data) as Uint8ClampedArray<ArrayBuffer>, value.width, value.height, {
      colorSpace: value.colorSpace,
    });
  }
  if (!ArrayBuffer.isView(value)) return value;
  const buffer = allocate(value.byteLength);
  new Uint8Array(buffer).set(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  return new (value.constructor as TypedArray)(buffer, 0, (value as Partial<Uint8Array>).length ?? value.byteLength);
}
