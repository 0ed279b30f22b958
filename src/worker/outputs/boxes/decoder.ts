import type { OutputInfo } from '../../../contract/tensors.js';
import { TabServeError } from '../../../contract/errors.js';
import { concatenate } from '../../tensors/concatenate.js';
import type { Background, Proposals } from './proposals.js';

/** Width and height in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** One image's part of an output, without a batch axis. */
export interface TensorView {
  readonly dims: readonly number[];
  readonly data: Float32Array;
}

/** What a decoder can know about a model before the model runs. */
export interface ModelFacts {
  readonly outputs: readonly OutputInfo[];
  /** The output that `handler.outputName` names, or the first; a decoder of a single output reads this one. */
  readonly output: OutputInfo;
  /** The size of the input tensor, or undefined if the model does not fix it. */
  readonly size: Size | undefined;
  /** The number of labels, or undefined if the archive has none. */
  readonly labels: number | undefined;
  /** Reads a JSON file of the archive. */
  json(path: string): Promise<unknown>;
  /** Logs a warning in the console. */
  warn(message: string): void;
}

/** Decodes the outputs of one model in a format with given options. */
export interface Decoder {
  /** The names of the outputs that the decoder reads, in the order of `decode`'s `views`. */
  readonly outputs: readonly string[];
  /** Whether the outputs have a batch axis. If not, the model runs once for each image. */
  readonly isBatched: boolean;
  /** The number of the model's classes, or undefined if it is unknown before the model runs. */
  readonly classes: number | undefined;
  /**
   * Decodes the outputs for one image.
   * @param size the size of the input tensor
   * @throws `model-config` if the tensors do not fit the format
   */
  decode(views: readonly TensorView[], size: Size): Proposals;
}

/**
 * A decoder with the default IoU threshold of non-maximum suppression; 1 if the model removes overlapping boxes itself.
 */
export interface DetectionDecoder extends Decoder {
  readonly iouThreshold: number;
}

/** A format of detection outputs: a function that creates a decoder. */
export interface Format<Options> {
  /** The default IoU threshold of non-maximum suppression; 1 if the model removes overlapping boxes itself. */
  readonly iouThreshold: number;
  /** Creates the decoder for a model. @throws `model-config` if the model's outputs cannot have this format */
  create(options: Options, model: ModelFacts): Decoder | Promise<Decoder>;
}

/** Concatenates tensors of one image along their boxes, to `[boxes, columns]`. */
export function join(views: readonly TensorView[]): TensorView {
  const [first] = views;
  if (views.length === 1 && first!.dims.length === 2) return first!;
  const columns = first!.dims.at(-1)!;
  const data = concatenate(views.map((view) => view.data));
  return { dims: [data.length / columns, columns], data };
}

/** Returns whether an output may hold a table for each image. An output that declares no dims may hold anything. */
export function isTable({ dims }: Pick<OutputInfo, 'dims'>): boolean {
  return dims.length === 0 || dims.length === 2 || dims.length === 3;
}

/** Returns whether each row of an output may hold the four numbers of a box. */
export function isBoxTable({ dims }: Pick<OutputInfo, 'dims'>): boolean {
  const columns = dims.at(-1);
  return isTable({ dims }) && (columns === 4 || typeof columns !== 'number');
}

/** Returns whether an output with a table has a batch axis. */
export function isBatch({ dims }: Pick<OutputInfo, 'dims'>): boolean {
  return dims.length !== 2;
}

/** Checks that the known numbers of boxes are equal. @throws `model-config` if they differ */
export function checkCounts(
  name: string,
  expected: string,
  outputs: readonly Pick<OutputInfo, 'name' | 'dims'>[],
  counts: readonly (OutputInfo['dims'][number] | undefined)[],
): void {
  const known = counts.filter((count) => typeof count === 'number');
  if (new Set(known).size > 1) throw mismatchError(name, expected, outputs);
}

/** @throws `model-config` if there are no columns besides the background's */
export function checkColumns(
  name: string,
  columns: OutputInfo['dims'][number] | undefined,
  background: Background,
  outputs: readonly Pick<OutputInfo, 'name' | 'dims'>[],
): void {
  if (typeof columns !== 'number' || columns > (background === 'none' ? 0 : 1)) return;
  throw mismatchError(
    name,
    background === 'none'
      ? 'a score for each class'
      : `a score for the background (background: ${background}) and for each class`,
    outputs,
  );
}

/** Returns a `model-config` error with what the decoder reads and what the model gives instead. */
export function mismatchError(
  name: string,
  expected: string,
  outputs: readonly Pick<OutputInfo, 'name' | 'dims'>[],
): TabServeError {
  return new TabServeError(
    'model-config',
    `handler.decoder: ${name} reads ${expected}; the model gives ${describeOutputs(outputs)}. Choose the decoder, its options or handler.outputName to match the model.`,
  );
}

/** Returns the names and dims of the outputs for one image, with the batch axis added, for a message. */
export function withBatchAxis(
  outputs: readonly OutputInfo[],
  views: readonly TensorView[],
): Pick<OutputInfo, 'name' | 'dims'>[] {
  return views.map(({ dims }, index) => ({ name: outputs[index]!.name, dims: ['batch', ...dims] }));
}

/** Returns the outputs with their dims as text, for a message. */
export function describeOutputs(outputs: readonly Pick<OutputInfo, 'name' | 'dims'>[]): string {
  return outputs.map(({ name, dims }) => `"${name}" [${dims.map((size) => size ?? '?').join(', ')}]`).join(', ');
}
