/**
 * Image files.
 *
 * Pixels are taken as coded: no color profile is applied (`colorSpaceConversion: 'none'`), because Pillow, with
 * which models are trained, applies none either.
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
 * The first frame of an image file. Its bytes say what it is, not its type.
 * @throws `image-decode` if it is empty, no image, damaged, truncated, or of a kind that this browser cannot decode;
 *   `image-too-large`, before anything is decoded where the header has the size
 */
export async function openEncoded(blob: Blob, { exifOrientation, maxPixels }: EncodedOptions): Promise<Source> {
  if (blob.size === 0) throw new TabServeError('image-decode', 'The file is empty.');
  const bytes = await read(blob);
  const header = readHeader(bytes);
  const type = header ? header.type : blob.type;
  if (type === undefined)
    throw new TabServeError('image-decode', `Not an image that can be decoded: ${describe(blob, header)}.`);
  if (header?.width !== undefined && header.height !== undefined) checkSize(header.width, header.height, maxPixels);
  // Decoders disagree about EXIF: some turn the picture, some tell, some do neither. So none gets to see the tag.
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
      `This browser could not decode ${describe(blob, header)}: truncated, damaged, or not supported.`,
      { cause },
    );
  }
}

async function read(blob: Blob): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return new Uint8Array(await blob.arrayBuffer());
  } catch (cause) {
    throw new TabServeError('image-decode', `The file of ${blob.size} bytes could not be read.`, { cause });
  }
}

function describe({ size, type }: Blob, header: Header | undefined): string {
  return `${header?.name ?? 'something unknown'}, ${size} bytes${type && `, given as ${type}`}`;
}

async function canDecode(type: string): Promise<boolean> {
  return typeof ImageDecoder !== 'undefined' && type !== '' && (await ImageDecoder.isTypeSupported(type));
}

/** Rejects where the data is incomplete: nothing is ever half an image. */
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

/** How the reference decoder of this kind of file makes RGB of the planes, where there are planes. AVIF's is close to JPEG's. */
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
