/** What is explained: the options, and the parts of a handler that explain its answers. */
import type { Context, MaybePromise, Params } from '../../contract/handler.js';
import type { Tensors } from '../../contract/tensors.js';
import type { Size } from '../outputs/boxes/decoder.js';
import type { Labels } from '../outputs/labels.js';
import type { Transforms } from '../transforms/index.js';
import type { ImageTensorInput } from './image-input.js';
import type { Placement } from './placements.js';
import type { Row } from './row.js';

/**
 * Returns the score of each class, in 0..1, for each row of a model's outputs. `size` is that of the model's input.
 * @throws `inference-failed` if the scores are not finite
 */
export type ClassScores = (outputs: Tensors, rows: number, size: Size) => MaybePromise<readonly ArrayLike<number>[]>;

/** The parts of an image handler that explain its answers. */
export interface ExplainableImages {
  readonly input: ImageTensorInput;
  readonly inputName: string;
  readonly imageProcessing: Transforms;
  readonly labels: Labels | undefined;
  readonly scores: ClassScores;
  inference(inputs: Tensors, context: Context): Promise<Tensors>;
  placement(index: number, context: Context): Placement | undefined;
}

/** A word or a punctuation mark of one of an input's texts: `texts[of].slice(start, end)`. */
export interface Word {
  readonly word: string;
  readonly start: number;
  readonly end: number;
  /** Which text it belongs to. */
  readonly of: string;
}

/** An input without one of its words. */
export interface Variant {
  /** The texts, by the keys of the input. */
  readonly texts: Readonly<Record<string, string>>;
  /** Returns where a part of the whole input is in this one; undefined if it was left out. */
  readonly find: (part: Omit<Word, 'word'>) => { readonly start: number; readonly end: number } | undefined;
}

/** The part of an answer that is explained. */
export interface Explained<About> {
  /** What the explanation says of it. */
  readonly about: About;
  /**
   * Returns its scores in 0..1 in each variant of the input, one for each row of the model's outputs.
   * @throws `inference-failed`
   */
  scores(outputs: Tensors, variants: readonly Variant[], rows: Context): readonly (readonly number[])[];
}

/** The parts of a text handler that explain its answers. */
export interface ExplainableTexts<Input, About> {
  /** Returns the texts of an input, by its keys. */
  read(input: Input): MaybePromise<Readonly<Record<string, string>>>;
  /**
   * Chooses what is explained in the answer to the whole input.
   * @param words all words of the input, in order
   * @param rows the context in which the whole input has run, as its only row
   * @throws `invalid-input`
   */
  choose(outputs: Tensors, words: readonly Word[], params: Params, rows: Context): Explained<About>;
  preprocess(data: readonly Row<Input>[], context: Context): MaybePromise<Tensors>;
  inference(inputs: Tensors, context: Context): Promise<Tensors>;
}

/**
 * The index of a class.
 * @integer
 * @minimum 0
 */
type ClassIndex = number;

/**
 * A level of a color.
 * @integer
 * @minimum 0
 * @maximum 255
 */
type Byte = number;

/** The options of `explain` for texts. */
export interface TextExplainParams {
  /** The class, by its index or label. Default: the class with the highest score. */
  readonly target?: ClassIndex | string;
  /**
   * Each word is left out once.
   * @default 'leave-one-out'
   */
  readonly method?: 'leave-one-out';
}

/** The options of `explain` for the labels of tokens. */
export interface TokenExplainParams {
  /** The label, by its index or name. Default: the label with the highest score that ignoreLabels does not name. */
  readonly target?: ClassIndex | string;
  /**
   * Where in the text the word is whose label is explained, as `start` of an answer says it. Default: the word with
   * the highest score.
   * @integer
   * @minimum 0
   */
  readonly position?: number;
  /**
   * Each word is left out once.
   * @default 'leave-one-out'
   */
  readonly method?: 'leave-one-out';
}

/** The options of `explain` for answers to questions. */
export interface AnswerExplainParams {
  /**
   * Each word is left out once.
   * @default 'leave-one-out'
   */
  readonly method?: 'leave-one-out';
}

/** The options of `explain` for images. Pixels are those of the model's input. */
export interface ImageExplainParams {
  /** The class, by its index or label. Default: the class with the highest score. */
  readonly target?: ClassIndex | string;
  /**
   * occlusion: a window covers each part of the image in turn; rise: random masks cover half of it.
   * @default 'occlusion'
   */
  readonly method?: 'occlusion' | 'rise';
  /**
   * For occlusion: the side of the window, in pixels. Default: a seventh of the shorter side.
   * @integer
   * @minimum 1
   */
  readonly window?: number;
  /**
   * For occlusion: the pixels by which the window moves; at most the window. Default: half of the window.
   * @integer
   * @minimum 1
   */
  readonly stride?: number;
  /**
   * For rise: the number of masks.
   * @integer
   * @minimum 1
   * @maximum 100000
   * @default 1000
   */
  readonly masks?: number;
  /**
   * For rise: the cells on a side of a mask.
   * @integer
   * @minimum 1
   * @default 7
   */
  readonly grid?: number;
  /**
   * For rise: the probability that a cell is shown.
   * @exclusiveMinimum 0
   * @exclusiveMaximum 1
   * @default 0.5
   */
  readonly probability?: number;
  /**
   * For rise: the seed of the masks.
   * @integer
   * @minimum 0
   * @maximum 4294967295
   * @default 0
   */
  readonly seed?: number;
  /**
   * What covers pixels: a gray level, or [red, green, blue], in 0..255. Default: 0 in the model's input, which
   * with normalize is the mean color of its training images.
   */
  readonly baseline?: Byte | readonly [red: Byte, green: Byte, blue: Byte];
}
