/** The sense of pictures. */
import type { Context } from '../../../contract/handler.js';
import type { DecodedImage, ImageInput } from '../../../contract/images.js';
import type { Tensor } from '../../../contract/tensors.js';
import { hashOf } from '../../../shared/hash.js';
import type { PictureReader, ReadPicture } from './picture-reader.js';
import type { Sense } from './sense.js';

export const VISION_ENCODER = 'vision_encoder';

/** @param decode opens the picture of a row */
export function sightOf(
  reader: PictureReader,
  decode: (image: ImageInput, index: number, context: Context) => Promise<DecodedImage>,
): Sense {
  const { placeholder, token, template, inputs } = reader;
  return {
    medium: 'image',
    one: 'a picture',
    many: 'pictures',
    node: VISION_ENCODER,
    inputs,
    placeholder,
    ...(token !== undefined && { token }),
    ...(template !== undefined && { template }),
    async read(image, index, context) {
      const decoded = await decode(image as ImageInput, index, context);
      try {
        const read = await reader.read(decoded);
        const { text, count, grid, feeds } = read;
        return { key: await keyOf(read), text, count, grid, feeds: () => feeds };
      } finally {
        decoded.close();
      }
    },
  };
}

/**
 * Returns the shapes of what the encoder gets of a picture, and its SHA-256: its pixels, and what says where they are.
 * Pictures of the same pixels may differ in shape alone.
 */
async function keyOf({ feeds, grid }: ReadPicture): Promise<string> {
  const tensors = Object.values(feeds) as readonly Tensor<'float32' | 'int64'>[];
  const shapes = [...(grid ? [[grid.rows, grid.columns]] : []), ...tensors.map(({ dims }) => dims)];
  const hash = await hashOf([new Blob(tensors.map(({ data }) => data as Float32Array<ArrayBuffer>))]);
  return `${shapes.map((sizes) => sizes.join('×')).join(' ')} ${hash}`;
}
