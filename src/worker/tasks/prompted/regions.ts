/**
 * The regions of an image in Florence-2's answers. The model writes where something is as `<loc_0>` to `<loc_999>`:
 * thousandths of the image's width and height. Everything is read as transformers' `post_process_generation` reads it.
 */
import type { Box } from '../../outputs/boxes/detection.js';
import type { AnswerKind } from './prompt-tasks.js';

/** A point of an image, in pixels. */
export type RegionPoint = readonly [x: number, y: number];

/** A part of an image: one of `box`, `quad` and `polygons` says where it is, in pixels. */
export interface ImageRegion {
  /** What is there; empty if the task names nothing. */
  readonly label: string;
  readonly box?: Box;
  /** The corners of a line of text. */
  readonly quad?: readonly [RegionPoint, RegionPoint, RegionPoint, RegionPoint];
  /** The outlines of one thing. */
  readonly polygons?: readonly (readonly RegionPoint[])[];
}

/** In pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Into how many parts the model divides each side. */
const PARTS = 1000;
const NUMBERS = /<loc_(\d+)>/g;
const MARKS = '(?:<loc_\\d+>|<sep>|<poly>|</poly>)';

/** Returns the regions of an answer; undefined if the task asks for none. @param banned phrases that are no things */
export function regionsOf(
  text: string,
  kind: AnswerKind,
  size: ImageSize,
  banned: ReadonlySet<string>,
): readonly ImageRegion[] | undefined {
  switch (kind) {
    case 'text':
      return undefined;
    case 'boxes':
      return boxesOf(text, /()((?:<loc_\d+>){4,})/g, size);
    case 'phrases':
      return boxesOf(text, NAMED, size, banned);
    case 'lines':
      return linesOf(text, size);
    case 'outlines':
      return outlinesOf(text, new RegExp(`${MARKS}{4,}`, 'g'), size);
    case 'named boxes':
      return boxesOf(text, NAMED, size);
    case 'named boxes or outlines':
      return text.includes('<poly>')
        ? outlinesOf(text, new RegExp(`[^<]+${MARKS}{4,}`, 'g'), size)
        : boxesOf(text, NAMED, size);
  }
}

const NAMED = /([^<]+)((?:<loc_\d+>){4,})/g;

function boxesOf(
  text: string,
  phrase: RegExp,
  size: ImageSize,
  banned: ReadonlySet<string> = new Set(),
): readonly ImageRegion[] {
  return [...text.matchAll(phrase)].flatMap(([, words, places]) => {
    const label = labelOf(words!);
    if (label === undefined || banned.has(label)) return [];
    const numbers = numbersIn(places!);
    return Array.from({ length: Math.floor(numbers.length / 4) }, (_, at) => {
      const [[xmin, ymin], [xmax, ymax]] = pointsOf(numbers.slice(4 * at, 4 * at + 4), size) as [
        RegionPoint,
        RegionPoint,
      ];
      return { label: asciiOf(label), box: { xmin, ymin, xmax, ymax } };
    });
  });
}

function linesOf(text: string, size: ImageSize): readonly ImageRegion[] {
  return [...text.matchAll(/([^\n]+?)((?:<loc_\d+>){8})/g)].map(([, words, places]) => ({
    label: words!.trim(),
    quad: pointsOf(numbersIn(places!), size) as unknown as NonNullable<ImageRegion['quad']>,
  }));
}

function outlinesOf(text: string, phrase: RegExp, size: ImageSize): readonly ImageRegion[] {
  return [...text.matchAll(phrase)].flatMap(([found]) => {
    const rest = found.replace(/^<loc_\d+>/, '');
    const start = rest.search(/<loc_|<poly>/);
    const label = start < 0 ? undefined : labelOf(rest.slice(0, start));
    if (label === undefined) return [];
    const things =
      found.includes('<poly>') && found.includes('</poly>')
        ? [...found.matchAll(/<poly>(.*?)<\/poly>/g)].map(([, inner]) => inner!)
        : [found];
    return things.flatMap((thing) => {
      const polygons = [...thing.matchAll(/((?:<loc_\d+>)+)(?:<sep>|$)/g)].map(([, places]) =>
        pointsOf(numbersIn(places!), size),
      );
      return polygons.length > 0 ? [{ label, polygons }] : [];
    });
  });
}

/** Returns the words before a place; undefined for words on several lines, which name nothing. */
function labelOf(words: string): string | undefined {
  const found = words.trimStart();
  return found.includes('\n') ? undefined : found.trimEnd();
}

/** Returns a box's name without characters other than ASCII, as transformers does. */
function asciiOf(label: string): string {
  return [...label].filter((one) => one.codePointAt(0)! < 128).join('');
}

function numbersIn(places: string): readonly number[] {
  return [...places.matchAll(NUMBERS)].map(([, number]) => Number(number));
}

/** Returns pairs of thousandths as points, each in the middle of its part, rounded down. A number without a pair is left out. */
function pointsOf(numbers: readonly number[], { width, height }: ImageSize): readonly RegionPoint[] {
  // As torch computes it, in float32.
  const pixelOf = (part: number, side: number): number =>
    Math.trunc(Math.fround(Math.fround(part + 0.5) * Math.fround(side / PARTS)));
  return Array.from({ length: Math.floor(numbers.length / 2) }, (_, at) => [
    pixelOf(numbers[2 * at]!, width),
    pixelOf(numbers[2 * at + 1]!, height),
  ]);
}

/** Returns a box as the model writes it. */
export function writeBox(box: readonly [number, number, number, number], { width, height }: ImageSize): string {
  return box
    .map((at, index) => {
      const part = Math.floor(Math.fround(Math.fround(at) / Math.fround((index % 2 === 0 ? width : height) / PARTS)));
      return `<loc_${Math.min(Math.max(part, 0), PARTS - 1)}>`;
    })
    .join('');
}
