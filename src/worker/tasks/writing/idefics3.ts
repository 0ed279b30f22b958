/**
 * Pictures as Idefics 3 and SmolVLM read them: enlarged or reduced to a grid of square tiles, and the whole picture as
 * one more tile. Pixels and texts are those of transformers' Idefics3Processor with Pillow (`Idefics3ImageProcessor`,
 * `get_image_prompt_string`).
 */
import type { DecodedImage, Pixels } from '../../../contract/images.js';
import type { Json } from '../../../shared/hugging-face.js';
import { isRecord } from '../../../shared/schema.js';
import { interpolationOf, numbersOf, resizePixels, wrongField } from './picture-fields.js';
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
  const numbers = numbersOf(images);
  const interpolation = interpolationOf(images);
  const resized = (image: DecodedImage | Pixels, ...sizes: readonly (readonly [number, number])[]): Promise<Pixels> =>
    resizePixels(image, sizes, interpolation);

  return {
    placeholder: IMAGE,
    inputs: ['pixel_values', 'pixel_attention_mask'],
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

/** Returns the size of a picture whose longer side has this many pixels. The other one is even. */
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

function promptOf({ rows, columns }: Grid, tokens: number): string {
  const tile = IMAGE.repeat(tokens);
  const parts = Array.from({ length: rows }, (_, row) =>
    Array.from({ length: columns }, (__, column) => `${AROUND}<row_${row + 1}_col_${column + 1}>${tile}`).join(''),
  );
  const before = rows === 0 ? '' : `${parts.map((part) => `${part}\n`).join('')}\n`;
  return `${before}${AROUND}${WHOLE}${tile}${AROUND}`;
}

function edgeOf(images: Json, key: 'size' | 'max_image_size', otherwise: number): number {
  const size = images[key] ?? { longest_edge: otherwise };
  const edge = isRecord(size) ? size['longest_edge'] : undefined;
  if (Number.isInteger(edge) && (edge as number) > 0 && (edge as number) <= MAX_SIDE) return edge as number;
  throw wrongField(key, `{ longest_edge } of 1 to ${MAX_SIDE}`, size);
}
