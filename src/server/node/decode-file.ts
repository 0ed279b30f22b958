import type { Sharp } from 'sharp';
import { TabServeError } from '../../contract/errors.js';
import type { TypedArrayInput } from '../../contract/tensors.js';
import type { FileDecoder } from '../../worker/images/encoded.js';
import { divide255 } from '../../worker/images/alpha.js';

/** The formats that sharp's prebuilt library decodes, of those that browsers do. */
const DECODED = new Set(['image/jpeg', 'image/png', 'image/webp', 'image/gif', 'image/avif']);

/**
 * Decodes an image file with sharp, which the app installs: Node has no decoder. As in a browser, color profiles are
 * not applied.
 * @throws `unsupported` if sharp is not installed, or decodes no such files
 */
export const decodeFile: FileDecoder = async (bytes, type, { channels, withAlpha }) => {
  const { default: sharp } = await importSharp().catch((cause: unknown) => {
    const message = 'The input is an image file, and Node has no decoder for it. Install one: npm install sharp';
    throw new TabServeError('unsupported', `${message}. Or pass decoded pixels: { data, dims }.`, { cause });
  });
  if (!DECODED.has(type))
    throw new TabServeError(
      'unsupported',
      `sharp, which decodes images under Node, does not decode ${type}. Convert the file to PNG, JPEG, WebP, GIF or AVIF, or pass decoded pixels: { data, dims }.`,
    );
  // The header was read before: its size is within the limit.
  const options = { limitInputPixels: false, failOn: 'error', ignoreIcc: true } as const;
  const image = sharp(bytes, options);
  if (type === 'image/jpeg' && channels === 4) return await decodeCmyk(image);
  // Each conversion takes a good part of the time of a small image.
  if (withAlpha) return await pixelsOf(image.toColourspace('srgb').ensureAlpha());
  return await pixelsOf(image.toColourspace(channels === 1 ? 'b-w' : 'srgb'));
};

/** Cached, because an `import()` takes a while even if the module is loaded. */
let loaded: typeof import('sharp') | undefined;

/** Imports sharp. Rejects if it is not installed, or has no library for this machine. */
export async function importSharp(): Promise<typeof import('sharp')> {
  return (loaded ??= await import('sharp'));
}

/** Decodes a JPEG for print as Pillow and browsers do: libvips would apply a profile of its own. */
async function decodeCmyk(image: Sharp): Promise<TypedArrayInput> {
  const { data, dims } = await pixelsOf(image.pipelineColourspace('cmyk').toColourspace('cmyk'));
  for (let at = 0; at < data.length; at += 4) {
    const light = 255 - data[at + 3]!;
    for (let channel = at; channel < at + 3; channel++) data[channel] = light - divide255(data[channel]! * light);
    data[at + 3] = 255;
  }
  return { data, dims };
}

/** Returns an image's pixels, of as many channels as it has. */
async function pixelsOf(image: Sharp): Promise<{ readonly data: Uint8Array; readonly dims: readonly number[] }> {
  const { data, info } = await image.raw({ depth: 'uchar' }).toBuffer({ resolveWithObject: true });
  return {
    data: new Uint8Array(data.buffer, data.byteOffset, data.length),
    dims: [info.height, info.width, info.channels],
  };
}
