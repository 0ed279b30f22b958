/**
 * Pictures as LFM2-VL reads them: a picture keeps its shape; a large one is cut into tiles, and comes once more as a
 * whole. Pixels and texts are those of transformers' Lfm2VlProcessor, resized by Pillow.
 */
import type { Pixels } from '../../../contract/images.js';
import type { Json } from '../../../shared/hugging-face.js';
import { integers } from '../../tensors/tensors.js';
import {
  interpolationOf,
  nearest,
  numbersOf,
  patchesOf,
  resizePixels,
  smartSize,
  valuesOf,
  wholeOf,
  wrongField,
  type PictureSize,
} from './picture-fields.js';
import type { Grid, PictureReader } from './picture-reader.js';

const [IMAGE, START, END, WHOLE] = ['<image>', '<|image_start|>', '<|image_end|>', '<|img_thumbnail|>'] as const;
const BILINEAR = 2;
/** Whatever the files say. */
const [MAX_SIDE, MAX_PATCH, MAX_FACTOR, MAX_TILES, MAX_TOKENS] = [4096, 64, 4, 64, 4096] as const;

/** What the files say of sizes. */
interface Sizes {
  readonly patch: number;
  /** This many patches, in both directions, are one token. */
  readonly factor: number;
  /** The side of a tile in pixels. */
  readonly tile: number;
  readonly tiles: readonly [least: number, most: number];
  readonly tokens: readonly [least: number, most: number];
  /** A picture is cut into tiles if it has this many times the pixels of one that is not. */
  readonly tolerance: number;
  readonly isSplit: boolean;
  /** Whether a picture of tiles comes once more as a whole. */
  readonly hasWhole: boolean;
}

/**
 * @param images the fields of `preprocessor_config.json`
 * @throws `model-config` for a field of the wrong type
 */
export function lfm2Reader(images: Json): PictureReader {
  const sizes = sizesOf(images);
  const { patch, factor, tile, isSplit, tokens } = sizes;
  const interpolation = interpolationOf(images, BILINEAR);
  const numbers = numbersOf(images);
  const side = patch * factor;
  /** Each tile has this many patches, some of which do not count. */
  const length = Math.max(tokens[1] * factor * factor, isSplit ? Math.floor(tile / patch) ** 2 : 0);
  const limits = { side, least: tokens[0] * side * side, most: tokens[1] * side * side };

  return {
    placeholder: IMAGE,
    inputs: ['pixel_values', 'pixel_attention_mask', 'spatial_shapes'],
    async read(image) {
      const size: PictureSize = [image.height, image.width];
      const whole = smartSize(size, limits, side);
      const grid = gridOf(size, sizes);
      const resized = (to: PictureSize): Promise<Pixels> => resizePixels(image, [to], interpolation);
      const all = [
        ...(grid ? tilesOf(await resized([grid.rows * tile, grid.columns * tile]), grid, tile) : []),
        ...(!grid || sizes.hasWhole ? [await resized(whole)] : []),
      ];
      const values = 3 * patch * patch;
      const data = new Float32Array(all.length * length * values);
      for (const [at, pixels] of all.entries())
        data.set(patchesOf(await valuesOf(pixels, numbers), pixels, patch), at * length * values);
      const shapes = all.map(({ height, width }) => [Math.floor(height / patch), Math.floor(width / patch)] as const);
      const counts = shapes.map(([rows, columns]) => Math.ceil(rows / factor) * Math.ceil(columns / factor));
      return {
        text: promptOf(grid, counts),
        count: counts.reduce((sum, count) => sum + count, 0),
        feeds: {
          pixel_values: { dtype: 'float32', dims: [all.length, length, values], data },
          pixel_attention_mask: integers(
            'int64',
            [all.length, length],
            shapes.flatMap(([rows, columns]) => Array.from({ length }, (_, at) => Number(at < rows * columns))),
          ),
          spatial_shapes: integers('int64', [all.length, 2], shapes.flat()),
        },
      };
    },
  };
}

/** Returns the grid of the tiles of a large picture: the one whose shape is nearest. Others have none. */
function gridOf([height, width]: PictureSize, sizes: Sizes): Grid | undefined {
  const { patch, factor, tile, tiles, tokens, tolerance, isSplit } = sizes;
  const side = patch * factor;
  const [near, far] = [height, width].map((size) => Math.max(patch, nearest(size, side))) as [number, number];
  if (!isSplit || tiles[1] === 1 || near * far <= tokens[1] * side * side * tolerance) return undefined;
  let best: Grid & { difference: number } = { rows: 1, columns: 1, difference: Infinity };
  for (const grid of gridsOf(tiles)) {
    const difference = Math.abs(width / height - grid.columns / grid.rows);
    const isLarge = height * width > 0.5 * tile * tile * grid.rows * grid.columns;
    if (difference < best.difference || (difference === best.difference && isLarge)) best = { ...grid, difference };
  }
  return best.rows * best.columns === 1 ? undefined : best;
}

/** Returns the grids of this many tiles, the smaller ones first. */
function gridsOf([least, most]: readonly [least: number, most: number]): readonly Grid[] {
  const grids: Grid[] = [];
  for (let count = least; count <= most; count++)
    for (let columns = 1; columns <= count; columns++)
      if (count % columns === 0) grids.push({ rows: count / columns, columns });
  return grids;
}

function tilesOf(pixels: Pixels, { rows, columns }: Grid, side: number): readonly Pixels[] {
  return Array.from({ length: rows * columns }, (_, index) => {
    const at = Math.floor(index / columns) * side * pixels.stride + (index % columns) * side * 3;
    return { ...pixels, width: side, height: side, data: pixels.data.subarray(at) };
  });
}

/** @param counts the tokens of each tile, and of the whole */
function promptOf(grid: Grid | undefined, counts: readonly number[]): string {
  const labels = grid
    ? Array.from({ length: grid.rows * grid.columns }, (_, at) => {
        const [row, column] = [Math.floor(at / grid.columns), at % grid.columns];
        return `<|img_row_${row + 1}_col_${column + 1}|>`;
      })
    : [''];
  return `${START}${counts.map((count, at) => (labels[at] ?? WHOLE) + IMAGE.repeat(count)).join('')}${END}`;
}

function sizesOf(images: Json): Sizes {
  const tolerance = images['max_pixels_tolerance'] ?? 2;
  if (typeof tolerance !== 'number') throw wrongField('max_pixels_tolerance', 'a number', tolerance);
  const range = (what: string, least: number, most: number, limit: number): readonly [number, number] => {
    const both = [wholeOf(images, `min_${what}`, least, limit), wholeOf(images, `max_${what}`, most, limit)] as const;
    if (both[0] > both[1]) throw wrongField(`min_${what}`, `at most max_${what}, ${both[1]}`, both[0]);
    return both;
  };
  return {
    patch: wholeOf(images, 'encoder_patch_size', 16, MAX_PATCH),
    factor: wholeOf(images, 'downsample_factor', 2, MAX_FACTOR),
    tile: wholeOf(images, 'tile_size', 512, MAX_SIDE),
    tiles: range('tiles', 2, 10, MAX_TILES),
    tokens: range('image_tokens', 64, 256, MAX_TOKENS),
    tolerance,
    isSplit: images['do_image_splitting'] !== false,
    hasWhole: images['use_thumbnail'] !== false,
  };
}
