/**
 * Decodes image files.
 *
 * Color profiles are not applied (`colorSpaceConversion: 'none'`): models are trained with Pillow, which does not apply them either.
 */
import { TabServeError } from '../contract/errors.js';
import { CanvasSource } from './canvas.js';
import { clearOrientation, findOrientation } from './exif.js';
import { frameSource, orientationOf } from './frame.js';
import { readHeader, type Header } from './header.js';
import { checkSize } from './limits.js';
import type { Orientation } from './orientation.js';
import { convertJpeg } from './planar/jpeg-color.js';
import type { Convert } from './planar/planes.js';
import { convertWebp } from './planar/webp-color.js';
import type { Source } from './source.js';

export interface EncodedOptions {
  readonly exifOrientation: boolean;
  readonly maxPixels: number;
}

/**
 * Opens the first frame of an image file. The format is recognized by the file's bytes, not by its type.
 * @throws `image-decode` if it is empty, damaged, truncated, no image, or in a format that this browser cannot decode;
 *   `image-too-large`, before anything is decoded if the header has the size
 */
export async function openEncoded(blob: Blob, { exifOrientation, maxPixels }: EncodedOptions): Promise<Source> {
  if (blob.size === 0) throw new TabServeError('image-decode', 'The image file is empty (0 bytes).');
  const bytes = await read(blob);
  const header = readHeader(bytes);
  const type = header ? header.type : blob.type;
  if (type === undefined)
    throw new TabServeError(
      'image-decode',
      `The file is not an image that can be decoded: ${describe(blob, header)}. Use a JPEG, PNG, WebP, AVIF, GIF or BMP.`,
    );
  if (header?.width !== undefined && header.height !== undefined) checkSize(header.width, header.height, maxPixels);
  // Some decoders apply the EXIF orientation, some report it, some do neither. So the tag is cleared before any of them sees it.
  const tag = header?.exif && findOrientation(bytes, header.exif);
  if (tag) clearOrientation(bytes, tag);
  const orientation = tag && exifOrientation ? tag.value : 1;
  try {
    if (!(await canDecode(type))) return await openBitmap(bytes, type, orientation);
    const frame = await decodeFrame(bytes, type);
    return frameSource(frame, {
      orientation: tag || !exifOrientation ? orientation : orientationOf(frame),
      convert: converter(frame, type),
      owned: true,
    });
  } catch (cause) {
    throw new TabServeError(
      'image-decode',
      `This browser could not decode the image (${describe(blob, header)}): it is truncated, damaged, or in a format that this browser does not support.`,
      { cause },
    );
  }
}

async function read(blob: Blob): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return new Uint8Array(await blob.arrayBuffer());
  } catch (cause) {
    throw new TabServeError(
      'image-decode',
      `The file of ${blob.size} bytes could not be read. Has it been changed or removed since it was chosen?`,
      { cause },
    );
  }
}

function describe({ size, type }: Blob, header: Header | undefined): string {
  return `${header?.name ?? 'an unknown format'}, ${size} bytes${type && `, declared as ${type}`}`;
}

async function canDecode(type: string): Promise<boolean> {
  return typeof ImageDecoder !== 'undefined' && type !== '' && (await ImageDecoder.isTypeSupported(type));
}

/** Decodes the first frame. Rejects if the data is incomplete, so that no image is ever partly decoded. */
async function decodeFrame(data: Uint8Array<ArrayBuffer>, type: string): Promise<VideoFrame> {
  const decoder = new ImageDecoder({
    data,
    type,
    colorSpaceConversion: 'none',
    preferAnimation: false,
    transfer: [data.buffer],
  });
  try {
    return (await decoder.decode({ completeFramesOnly: true })).image;
  } finally {
    decoder.close();
  }
}

/** Returns how the reference decoder of this format converts planes to RGB; undefined if the browser should convert. AVIF's conversion is close to JPEG's. */
function converter({ colorSpace: { matrix, fullRange } }: VideoFrame, type: string): Convert | undefined {
  if (matrix !== 'smpte170m') return undefined;
  if ((type === 'image/jpeg' || type === 'image/avif') && fullRange) return convertJpeg;
  return type === 'image/webp' && !fullRange ? convertWebp : undefined;
}

async function openBitmap(bytes: Uint8Array<ArrayBuffer>, type: string, orientation: Orientation): Promise<Source> {
  const bitmap = await createImageBitmap(new Blob([bytes], { type }), {
    premultiplyAlpha: 'none',
    colorSpaceConversion: 'none',
  });
  return new CanvasSource(bitmap, bitmap.width, bitmap.height, { orientation, dispose: () => bitmap.close() });
}
