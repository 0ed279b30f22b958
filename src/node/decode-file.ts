import { TabServeError } from '../contract/errors.js';
import type { FileDecoder } from '../images/file-decoder.js';

/** The formats that sharp's prebuilt library decodes, of those that browsers do. */
const DECODED = new Set(['image/jpeg', 'image/png', 'image/webp', 'image/gif', 'image/avif']);

/**
 * Decodes an image file with sharp, which the app installs: Node has no decoder. As in a browser, color profiles are not applied.
 * @throws `unsupported` if sharp is not installed, or decodes no such files
 */
export const decodeFile: FileDecoder = async (bytes, type) => {
  const { default: sharp } = await import('sharp').catch((cause: unknown) => {
    const message = 'The input is an image file, and Node has no decoder for it. Install one: npm install sharp';
    throw new TabServeError('unsupported', `${message}. Or pass decoded pixels: { data, dims }.`, { cause });
  });
  if (!DECODED.has(type))
    throw new TabServeError(
      'unsupported',
      `sharp, which decodes images under Node, does not decode ${type}. Convert the file to PNG, JPEG, WebP, GIF or AVIF, or pass decoded pixels: { data, dims }.`,
    );
  // The header was read before: its size is within the limit.
  const image = sharp(bytes, { limitInputPixels: false, failOn: 'error', ignoreIcc: true });
  const { data, info } = await image
    .toColourspace('srgb')
    .ensureAlpha()
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
  return { data: new Uint8Array(data.buffer, data.byteOffset, data.length), dims: [info.height, info.width, 4] };
};
