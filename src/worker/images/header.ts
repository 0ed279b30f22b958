/**
 * Recognizes a file by its first bytes, whatever its name and type are, and reads its header.
 */
import { readBmp } from './containers/bmp.js';
import { readGif } from './containers/gif.js';
import { readHeif } from './containers/heif.js';
import { readIcon } from './containers/icon.js';
import { readJpeg } from './containers/jpeg.js';
import { readPng } from './containers/png.js';
import { readWebp } from './containers/webp.js';
import type { Facts } from './facts.js';

export interface Header {
  /** The format's name for messages, with its article. */
  readonly name: string;
  /** The MIME type; undefined if files of this format are not decoded. */
  readonly type: string | undefined;
  /** What the header says; undefined if it is damaged, or if files of this format are not decoded. */
  readonly facts: Facts | undefined;
}

interface Kind {
  readonly name: string;
  readonly type?: string;
  matches(text: string): boolean;
  read?(bytes: Uint8Array): Facts | undefined;
}

/** A format without `read` is not decoded: how much memory its decoder takes is not known before it is started. */
const KINDS: readonly Kind[] = [
  { name: 'a JPEG', type: 'image/jpeg', matches: (text) => text.startsWith('\xff\xd8\xff'), read: readJpeg },
  { name: 'a PNG', type: 'image/png', matches: (text) => text.startsWith('\x89PNG\r\n\x1a\n'), read: readPng },
  { name: 'a WebP', type: 'image/webp', matches: (text) => /^RIFF[^]{4}WEBP/.test(text), read: readWebp },
  { name: 'a GIF', type: 'image/gif', matches: (text) => /^GIF8[79]a/.test(text), read: readGif },
  { name: 'a BMP', type: 'image/bmp', matches: (text) => text.startsWith('BM'), read: readBmp },
  {
    name: 'an AVIF',
    type: 'image/avif',
    matches: (text) => /^[^]{4}ftyp[^]{0,64}avi[fs]/.test(text),
    read: readHeif,
  },
  {
    name: 'a HEIC',
    type: 'image/heic',
    matches: (text) => /^[^]{4}ftyp(hei|hev|mif1|msf1)/.test(text),
    read: readHeif,
  },
  { name: 'an icon', type: 'image/x-icon', matches: (text) => text.startsWith('\0\0\x01\0'), read: readIcon },
  { name: 'a JPEG XL', matches: (text) => text.startsWith('\xff\n') || text.startsWith('\0\0\0\fJXL ') },
  { name: 'a TIFF', matches: (text) => text.startsWith('II*\0') || text.startsWith('MM\0*') },
  { name: 'a page of HTML', matches: (text) => /^\s*(<!doctype html|<html)/i.test(text) },
  {
    name: 'an SVG drawing, which no worker can decode (draw it to a canvas first)',
    matches: (text) => /<svg[\s>]/.test(text),
  },
  { name: 'text', matches: (text) => /^[\s!-~]+$/.test(text) },
];

/**
 * Returns the format of a file and what its header says, in a time that is linear in the file's length; undefined if
 * the format is not known.
 */
export function readHeader(bytes: Uint8Array): Header | undefined {
  // Spread, each byte would be an object for a moment.
  const text = String.fromCharCode.apply(null, bytes.subarray(0, 512) as unknown as number[]);
  const kind = KINDS.find(({ matches }) => matches(text));
  return kind && { name: kind.name, type: kind.type, facts: readFacts(kind, bytes) };
}

function readFacts(kind: Kind, bytes: Uint8Array): Facts | undefined {
  try {
    return kind.read?.(bytes);
  } catch (error) {
    // What lies outside of the file.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
