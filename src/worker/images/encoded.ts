/**
 * Decodes image files.
 *
 * Color profiles are not applied (`colorSpaceConversion: 'none'`): models are trained with Pillow, which does not apply
 * them either.
 */
import { TabServeError } from '../../contract/errors.js';
import { CanvasSource } from './canvas.js';
import { openArray } from './array.js';
import { withoutColorProfile } from './containers/color-profile.js';
import { withEnd } from './containers/jpeg-blocks.js';
import { withoutAnimation } from './containers/png.js';
import { clearOrientation, findOrientation } from './exif.js';
import { checkFacts, type Facts, type Size } from './facts.js';
import { frameSource, orientationOf } from './frame.js';
import { readHeader, type Header } from './header.js';
import { convertJpeg } from './planar/jpeg-color.js';
import type { Convert } from './planar/planes.js';
import { convertWebp } from './planar/webp-color.js';
import { decoderPremultiplies } from './alpha.js';
import type { Orientation } from './orientation.js';
import type { Source } from './source.js';
import type { TypedArrayInput } from '../../contract/tensors.js';

export interface EncodedOptions {
  readonly exifOrientation: boolean;
  readonly maxPixels: number;
}

/**
 * Opens the first frame of an image file. The format is recognized by the file's bytes, not by its type.
 * @throws `image-decode` if it is empty, damaged, truncated, no image, in a format that is not decoded, or of another
 *   size than its header says; `image-too-large`, before anything is decoded
 */
export async function openEncoded(blob: Blob, { exifOrientation, maxPixels }: EncodedOptions): Promise<Source> {
  if (blob.size === 0) throw new TabServeError('image-decode', 'The image file is empty (0 bytes).');
  const bytes = await read(blob);
  const header = readHeader(bytes);
  if (header?.type === undefined)
    throw new TabServeError(
      'image-decode',
      `The file is not an image that can be decoded: ${describe(blob, header)}. Use a JPEG, PNG, WebP, AVIF, GIF or BMP.`,
    );
  const { type, facts } = header;
  if (!facts)
    throw new TabServeError(
      'image-decode',
      `The image's header could not be read (${describe(blob, header)}): it is truncated or damaged.`,
    );
  checkFacts(facts, maxPixels);
  const whole = facts.complete === false && type === 'image/jpeg' ? withEnd(bytes) : undefined;
  // Firefox fills with gray what is missing, and says nothing.
  if (facts.complete === false && !whole)
    throw new TabServeError(
      'image-decode',
      `The image file ends before its picture does (${describe(blob, header)}): it is truncated. Download or save it again.`,
    );
  // Some decoders apply the EXIF orientation, some report it, some do neither. So the tag is cleared before any of them
  // sees it.
  const file = whole ?? bytes;
  const tag = facts.exif && findOrientation(file, facts.exif);
  if (tag) clearOrientation(file, tag);
  const orientation = tag && exifOrientation ? tag.value : 1;
  const still = type === 'image/png' ? withoutAnimation(file) : file;
  const decodeElsewhere = fileDecoder();
  if (decodeElsewhere) {
    const { channels } = facts;
    const decoded = await decodeElsewhere(still, type, { channels, withAlpha: orientation !== 1 }).catch(
      (cause: unknown) => {
        throw cause instanceof TabServeError
          ? cause
          : notDecoded(describe(blob, header), 'in a format that the decoder here does not support', cause);
      },
    );
    return pixelSource(decoded, facts, orientation, type === 'image/avif');
  }
  const picture = await decode(still, type, facts, () => describe(blob, header));
  try {
    checkSides(sizeOf(picture), facts, !isFrame(picture) || type === 'image/avif');
  } catch (error) {
    picture.close();
    throw error;
  }
  if (!isFrame(picture)) {
    const { width, height } = picture;
    return new CanvasSource(picture, width, height, { orientation, dispose: () => picture.close() });
  }
  return frameSource(picture, {
    orientation: tag || !exifOrientation ? orientation : orientationOf(picture),
    convert: converter(picture, type),
    premultiplied: picture.format?.endsWith('A') === true && (await decoderPremultiplies()),
    owned: true,
  });
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

async function decode(
  bytes: Uint8Array<ArrayBuffer>,
  type: string,
  { width, height }: Size,
  describe: () => string,
): Promise<VideoFrame | ImageBitmap> {
  try {
    return (await canDecode(type)) ? await decodeFrame(bytes, type) : await decodeBitmap(bytes, type);
  } catch (cause) {
    if (Math.max(width, height) > MAX_SIDE)
      throw new TabServeError(
        'image-too-large',
        `The image has ${width} × ${height} pixels, and this browser decodes sides of at most ${MAX_SIDE} (${describe()}). Cut it into pieces, or make it smaller.`,
        { cause },
      );
    if (type === 'image/heic')
      throw new TabServeError(
        'image-decode',
        `The image is a HEIC, which Safari alone decodes (${describe()}; in Safari, it is damaged). Save it as a JPEG; an iPhone takes JPEGs with the setting Camera > Formats > Most Compatible.`,
        { cause },
      );
    throw notDecoded(describe(), 'in a format that this browser does not support', cause);
  }
}

function notDecoded(what: string, unsupported: string, cause: unknown): TabServeError {
  return new TabServeError(
    'image-decode',
    `The image could not be decoded (${what}): it is truncated, damaged, or ${unsupported}.`,
    { cause },
  );
}

/**
 * Returns a source of pixels that were decoded outside of a browser.
 * @param mayBeTurned whether the decoder turns a picture as its container says
 */
function pixelSource(pixels: TypedArrayInput, facts: Facts, orientation: Orientation, mayBeTurned: boolean): Source {
  const source = openArray(pixels, true);
  checkSides(source, facts, mayBeTurned);
  const { width, height } = source;
  return { width, height, orientation, read: (rect, allocate) => source.read(rect, allocate), close: () => {} };
}

/** The longest side that Chromium decodes. */
const MAX_SIDE = 32_767;

/** Whether the browser's decoder takes a type, by type: asked once, because the answer waits for a task. */
const decodable = new Map<string, boolean>();

async function canDecode(type: string): Promise<boolean> {
  if (typeof ImageDecoder === 'undefined') return false;
  let known = decodable.get(type);
  if (known === undefined) decodable.set(type, (known = await ImageDecoder.isTypeSupported(type)));
  return known;
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

function decodeBitmap(bytes: Uint8Array<ArrayBuffer>, type: string): Promise<ImageBitmap> {
  const file = new Blob([withoutColorProfile(bytes, type)], { type });
  return createImageBitmap(file, { premultiplyAlpha: 'none', colorSpaceConversion: 'none' });
}

function isFrame(picture: VideoFrame | ImageBitmap): picture is VideoFrame {
  return 'visibleRect' in picture;
}

function sizeOf(picture: VideoFrame | ImageBitmap): Size {
  return isFrame(picture) ? picture.visibleRect! : picture;
}

/**
 * Checks that the decoder saw the picture whose size was limited.
 * @param mayBeTurned whether the decoder may have turned it: a bitmap of an AVIF or HEIC file, and Firefox's frame of an
 *   AVIF; another frame is as coded
 * @throws `image-decode`
 */
function checkSides({ width, height }: Size, facts: Facts, mayBeTurned: boolean): void {
  const isRight = (size: Size): boolean =>
    (width === size.width && height === size.height) || (mayBeTurned && width === size.height && height === size.width);
  if (isRight(facts) || (facts.cut && isRight(facts.cut))) return;
  throw new TabServeError(
    'image-decode',
    `The image's header says ${facts.width} × ${facts.height} pixels, but it was decoded to ${width} × ${height}. The file is damaged; save it again.`,
  );
}

/**
 * Returns how the reference decoder of this format converts planes to RGB; undefined if the browser should convert.
 * AVIF's conversion is close to JPEG's.
 */
function converter({ format, colorSpace: { matrix, fullRange } }: VideoFrame, type: string): Convert | undefined {
  if (matrix !== 'smpte170m' || format === 'NV12') return undefined;
  if ((type === 'image/jpeg' || type === 'image/avif') && fullRange) return convertJpeg;
  return type === 'image/webp' && !fullRange ? convertWebp : undefined;
}

/**
 * Decodes the first frame of an image file where there is no browser: to gray, RGB or RGBA, 8 bits a channel, not
 * premultiplied, neither turned nor in another color space.
 * @param options.channels see `Facts`
 * @param options.withAlpha whether to return RGBA in any case
 * @throws what its library throws for a file that it cannot decode
 */
export type FileDecoder = (
  bytes: Uint8Array,
  type: string,
  options: Pick<Facts, 'channels'> & { readonly withAlpha: boolean },
) => Promise<TypedArrayInput>;

let provided: FileDecoder | undefined;

/** Sets what decodes files in this thread, which is no browser's. */
export function provideFileDecoder(decoder: FileDecoder | undefined): void {
  provided = decoder;
}

/** Returns what decodes files in this thread; undefined in a browser. */
export function fileDecoder(): FileDecoder | undefined {
  return provided;
}
