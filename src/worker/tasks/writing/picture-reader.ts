/** How families of models read pictures. */
import type { DecodedImage } from '../../../contract/images.js';
import type { Tensors } from '../../../contract/tensors.js';

/** A picture, ready for the model. */
export interface ReadPicture {
  /** What stands in the prompt in place of the template's own text for a picture. */
  readonly text: string;
  /** How many of the prompt's tokens become vectors of the picture. */
  readonly count: number;
  /** The inputs of the encoder of pictures. */
  readonly feeds: Tensors;
  /** How many rows and columns of tokens it has, if its tokens have positions by both. */
  readonly grid?: Grid;
}

/** Rows and columns of a picture's tokens. */
export interface Grid {
  readonly rows: number;
  readonly columns: number;
}

/** Reads pictures as one family of models does. */
export interface PictureReader {
  /** The text that the chat template writes for a picture. */
  readonly placeholder: string;
  /** The token of which each becomes a vector of the picture. Default: the placeholder. */
  readonly token?: string;
  /** What a repository without a chat template has in its place. */
  readonly template?: string;
  /** The inputs that the encoder may have. */
  readonly inputs: readonly string[];
  /** Makes a picture ready for the model. */
  read(image: DecodedImage): Promise<ReadPicture>;
}
