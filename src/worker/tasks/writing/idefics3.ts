/**
 * Pictures as Idefics 3 and SmolVLM read them: enlarged or reduced to a grid of square tiles, and the whole picture as
 * one more tile. Pixels and texts are those of transformers' Idefics3Processor with Pillow (`Idefics3ImageProcessor`,
 * `get_image_prompt_string`).
 */
import type { DecodedImage, Pixels } from '../../../contract/images.js';
import { TabServeError } from '../../../contract/errors.js';
import type { Json } from '../../../shared/hugging-face.js';
import { isRecord } from '../../../shared/schema.js';
import {
  compileTransforms,
  compose,
  layout,
  normalize,
  resize,
  toTensor,
  type Interpolation,
} from '../../transforms/index.js';
import type { PictureReader, ReadPicture } from './picture-reader.js';

/** The largest side of a picture, whatever the files say. */
const MAX_SIDE = 4096;
const [AROUND, IMAGE, WHOLE] = ['<fake_token_around_image>', '<image>', '<global-img>'] as const;

/** A grid of tiles, and the size in pixels that fills it. */
interface Grid {
  readonly rows: number;
  readonly columns: number;
  readonly width: number;
  readonly height: number;
}

/**
 * @param images the fields of `preprocessor_config.json`
 * @param tokens of each tile: `image_seq_len` of `processor_config.json`
 * @throws `model-config` for a field of the wrong type
 */
export function idefics3Reader(images: Json, tokens: number): PictureReader {
  const longest = Math.min(edgeOf(images, 'size', 4 * 364), MAX_SIDE);
  const side = edgeOf(images, 'max_image_size', 364);
  const isSplit = images['do_image_splitting'] !== false;
  const interpolation = interpolationOf(images['resample']);
  const numbers = compileTransforms(
    compose(
      images['do_rescale'] === false ? toTensor({ scale: 1 }) : toTensor({ scale: scaleOf(images) }),
      ...(images['do_normalize'] === false
        ? []
        : [normalize(channels(images, 'image_mean'), channels(images, 'image_std'))]),
    ),
  );
  const resized = (image: DecodedImage | Pixels, ...sizes: readonly (readonly [number, number])[]): Promise<Pixels> =>
    resizePixels(image, sizes, interpolation);

  return {
    placeholder: IMAGE,
    async read(image) {
      const first = images['do_resize'] === false ? image : fit(image, longest);
      const grid = isSplit ? gridOf(first, side) : { rows: 0, columns: 0, width: side, height: side };
      const filled = await resized(image, [first.height, first.width], [grid.height, grid.width]);
      const isOne = grid.rows === 0;
      const whole = isOne ? filled : await resized(filled, [side, side]);
      const tiles = [...(isOne ? [] : tilesOf(filled, grid, side)), whole];
      const size = 3 * side * side;
      const data = new Float32Array(tiles.length * size);
      for (const [index, tile] of tiles.entries()) await numbers.run(tile, data, index * size);
      return {
        text: promptOf(grid, tokens),
        count: tiles.length * tokens,
        feeds: {
          pixel_values: { dtype: 'float32', dims: [1, tiles.length, 3, side, side], data },
          pixel_attention_mask: {
            dtype: 'bool',
            dims: [1, tiles.length, side, side],
            data: new Uint8Array(tiles.length * side * side).fill(1),
          },
        },
      } satisfies ReadPicture;
    },
  };
}

/** Returns the size of a picture whose longer side has so many pixels. The other one is even. */
function fit({ width, height }: Size, longest: number): Size {
  const even = (value: number): number => Math.max(1, value + (value % 2));
  return width >= height
    ? { width: longest, height: even(Math.trunc(longest / (width / height))) }
    : { width: even(Math.trunc(longest * (width / height))), height: longest };
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Returns the grid of the tiles that a picture fills, when its longer side is a multiple of a tile's. */
function gridOf({ width, height }: Size, side: number): Grid {
  const aspect = width / height;
  const up = (value: number): number => Math.ceil(value / side) * side;
  const isWide = width >= height;
  const filled = isWide
    ? { width: up(width), height: up(Math.trunc(up(width) / aspect)) }
    : { width: up(Math.trunc(up(height) * aspect)), height: up(height) };
  const isOne = filled.width <= side && filled.height <= side;
  return { ...filled, rows: isOne ? 0 : filled.height / side, columns: isOne ? 0 : filled.width / side };
}

function tilesOf({ data, stride, format }: Pixels, { rows, columns }: Grid, side: number): readonly Pixels[] {
  return Array.from({ length: rows * columns }, (_, index) => {
    const [row, column] = [Math.trunc(index / columns), index % columns];
    return {
      format,
      width: side,
      height: side,
      stride,
      data: data.subarray(row * side * stride + column * side * 3),
    };
  });
}

/** Resizes a picture one size after the other; each time, its pixels are bytes again. */
async function resizePixels(
  image: DecodedImage | Pixels,
  sizes: readonly (readonly [number, number])[],
  interpolation: Interpolation,
): Promise<Pixels> {
  const [height, width] = sizes.at(-1)!;
  const steps = sizes.map((size) => resize(size, { interpolation }));
  const { data } = await compileTransforms(compose(...steps, toTensor({ scale: 1 }), layout('NHWC'))).run(image);
  return { format: 'RGB', width, height, stride: width * 3, data: Uint8Array.from(data) };
}

function promptOf({ rows, columns }: Grid, tokens: number): string {
  const tile = IMAGE.repeat(tokens);
  const parts = Array.from({ length: rows }, (_, row) =>
    Array.from({ length: columns }, (__, column) => `${AROUND}<row_${row + 1}_col_${column + 1}>${tile}`).join(''),
  );
  const before = rows === 0 ? '' : `${parts.map((part) => `${part}\n`).join('')}\n`;
  return `${before}${AROUND}${WHOLE}${tile}${AROUND}`;
}

const FILE = 'preprocessor_config.json';
/** Pillow's numbers. */
const INTERPOLATIONS: readonly Interpolation[] = ['nearest', 'lanczos', 'bilinear', 'bicubic', 'box', 'hamming'];

function interpolationOf(value: unknown): Interpolation {
  const found = INTERPOLATIONS[(value ?? 1) as number];
  if (found) return found;
  throw wrong('resample', "one of Pillow's numbers, 0 to 5", value);
}

function edgeOf(images: Json, key: 'size' | 'max_image_size', otherwise: number): number {
  const size = images[key] ?? { longest_edge: otherwise };
  const edge = isRecord(size) ? size['longest_edge'] : undefined;
  if (Number.isInteger(edge) && (edge as number) > 0 && (edge as number) <= MAX_SIDE) return edge as number;
  throw wrong(key, `{ longest_edge } of 1 to ${MAX_SIDE}`, size);
}

function scaleOf(images: Json): number {
  const scale = images['rescale_factor'] ?? 1 / 255;
  if (typeof scale === 'number') return scale;
  throw wrong('rescale_factor', 'a number', scale);
}

function channels(images: Json, key: 'image_mean' | 'image_std'): readonly number[] {
  const given = images[key] ?? [0.5, 0.5, 0.5];
  const list = typeof given === 'number' ? [given, given, given] : given;
  if (Array.isArray(list) && list.length === 3 && list.every((one) => typeof one === 'number')) return list;
  throw wrong(key, 'three numbers', given);
}

function wrong(key: string, expected: string, value: unknown): TabServeError {
  return new TabServeError('model-config', `${FILE}: ${key}: expected ${expected}, got ${JSON.stringify(value)}.`);
}
