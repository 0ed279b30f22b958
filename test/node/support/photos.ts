import { readFileSync } from 'node:fs';
import sharp from 'sharp';
import type { TypedArrayInput } from '../../../src/contract/tensors.ts';

const root = new URL('../../../', import.meta.url);

/** A photo of the repository. */
export interface Photo {
  readonly photo: string;
  /** Counterclockwise, in degrees. */
  readonly turn: number;
}

/** Reads a photo's pixels. */
export async function photoOf({ photo, turn }: Photo): Promise<TypedArrayInput & { readonly data: Uint8Array }> {
  const { data, info } = await sharp(readFileSync(new URL(photo, root)))
    .rotate(-turn)
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { data: new Uint8Array(data), dims: [info.height, info.width, 3] };
}
