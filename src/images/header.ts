/**
 * Recognizes a file by its first bytes, whatever its name and type are.
 */
import { readJpeg } from './containers/jpeg.js';
import { readPng } from './containers/png.js';
import { readWebp } from './containers/webp.js';
import type { Span } from './exif.js';

/** The coded width and height in pixels, and the position of the EXIF block, if the header has them. */
export interface Facts {
  readonly width?: number;
  readonly height?: number;
  readonly exif?: Span | undefined;
}

export interface Header extends Facts {
  /** The format's name for messages, with its article. */
  readonly name: string;
  /** The MIME type; undefined if no worker can decode this format. */
  readonly type: string | undefined;
}

interface Kind {
  readonly name: string;
  readonly type?: string;
  matches(text: string): boolean;
  read?(bytes: Uint8Array): Facts;
}

const KINDS: readonly Kind[] = [
  { name: 'a JPEG', type: 'image/jpeg', matches: (text) => text.startsWith('\xff\xd8\xff'), read: readJpeg },
  { name: 'a PNG', type: 'image/png', matches: (text) => text.startsWith('\x89PNG\r\n\x1a\n'), read: readPng },
  { name: 'a WebP', type: 'image/webp', matches: (text) => /^RIFF[^]{4}WEBP/.test(text), read: readWebp },
  { name: 'a GIF', type: 'image/gif', matches: (text) => /^GIF8[79]a/.test(text), read: readGif },
  { name: 'a BMP', type: 'image/bmp', matches: (text) => text.startsWith('BM'), read: readBmp },
  { name: 'an AVIF', type: 'image/avif', matches: (text) => /^[^]{4}ftyp[^]{0,64}avi[fs]/.test(text) },
  { name: 'a HEIC', type: 'image/heic', matches: (text) => /^[^]{4}ftyp(hei|hev|mif1|msf1)/.test(text) },
  {
    name: 'a JPEG XL',
    type: 'image/jxl',
    matches: (text) => text.startsWith('\xff\n') || text.startsWith('\0\0\0\fJXL '),
  },
  { name: 'a TIFF', type: 'image/tiff', matches: (text) => text.startsWith('II*\0') || text.startsWith('MM\0*') },
  { name: 'an icon', type: 'image/x-icon', matches: (text) => text.startsWith('\0\0\x01\0') },
  { name: 'a page of HTML', matches: (text) => /^\s*(<!doctype html|<html)/i.test(text) },
  {
    name: 'an SVG drawing, which no worker can decode (draw it to a canvas first)',
    matches: (text) => /<svg[\s>]/.test(text),
  },
  { name: 'text', matches: (text) => /^[\s!-~]+$/.test(text) },
];

/** Returns the format of a file and what its header says; undefined if the format is not known. */
export function readHeader(bytes: Uint8Array): Header | undefined {
  const text = String.fromCharCode(...bytes.subarray(0, 512));
  const kind = KINDS.find(({ matches }) => matches(text));
  return kind && { ...kind.read?.(bytes), name: kind.name, type: kind.type };
}

function readGif(bytes: Uint8Array): Facts {
  if (bytes.length < 10) return {};
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
}

/** The oldest kind of header has 12 bytes and 16-bit sides. A negative height means that the top row comes first. */
function readBmp(bytes: Uint8Array): Facts {
  if (bytes.length < 26) return {};
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  if (view.getUint32(14, true) === 12) return { width: view.getUint16(18, true), height: view.getUint16(20, true) };
  return { width: Math.abs(view.getInt32(18, true)), height: Math.abs(view.getInt32(22, true)) };
}
