import type { TypedArrayInput } from '../contract/tensors.js';

/**
 * Decodes the first frame of an image file where there is no browser: to RGBA, 8 bits a channel, not premultiplied, neither turned nor in another color space.
 * @throws what its library throws for a file that it cannot decode
 */
export type FileDecoder = (bytes: Uint8Array, type: string) => Promise<TypedArrayInput>;

let provided: FileDecoder | undefined;

/** Sets what decodes files in this thread, which is no browser's. */
export function provideFileDecoder(decoder: FileDecoder | undefined): void {
  provided = decoder;
}

/** Returns what decodes files in this thread; undefined in a browser. */
export function fileDecoder(): FileDecoder | undefined {
  return provided;
}
