/** What a model perceives beside texts: pictures, or sound. */
import type { Context, Medium } from '../../../contract/handler.js';
import type { Tensors } from '../../../contract/tensors.js';
import type { Grid } from './picture-reader.js';

/** A picture or a recording of a prompt. */
export interface SoftPart {
  /** The same for the same one alone. */
  readonly key: string;
  /** What stands in the prompt in place of the template's own text for it. */
  readonly text: string;
  /** How many of the prompt's tokens become vectors of it. */
  readonly count: number;
  /** How many rows and columns of tokens it has, if its tokens have positions by both. */
  readonly grid?: Grid | undefined;
  /** Returns the inputs of the encoder. */
  feeds(): Tensors;
}

/** One of a model's senses. */
export interface Sense {
  readonly medium: Medium;
  /** In words, for messages. */
  readonly one: string;
  readonly many: string;
  /** The encoder's file and node. */
  readonly node: string;
  /** The inputs that the encoder may have. */
  readonly inputs: readonly string[];
  /** The text that the chat template writes for one. */
  readonly placeholder: string;
  /** The token of which each becomes a vector. Default: the placeholder. */
  readonly token?: string;
  /** What a repository without a chat template has in its place. */
  readonly template?: string;
  /** Whether the placeholder stands in the texts of messages, as the template takes no lists of parts. */
  readonly isInTexts?: boolean;
  /**
   * Reads a picture or a recording.
   * @param index of its row
   * @throws `invalid-input` and its like, which fail the row
   */
  read(given: unknown, index: number, context: Context): Promise<SoftPart>;
  /** Returns inputs of the encoder; none if their sizes are those of what it reads. */
  example?(): Tensors;
}
