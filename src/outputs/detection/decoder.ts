import type { OutputInfo } from '../../contract/tensors.js';
import { TabServeError } from '../../contract/errors.js';
import type { ConfigSchema } from '../../shared/schema.js';
import type { Proposals } from './proposals.js';

/** Width and height in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The numbers of one output that belong to one image; no batch axis. */
export interface TensorView {
  readonly dims: readonly number[];
  readonly data: Float32Array;
}

/** What is known of a model before it has run. */
export interface ModelFacts {
  readonly outputs: readonly OutputInfo[];
  /** The one output that a decoder of one output reads. */
  readonly output: OutputInfo;
  /** Of the input tensor, where the model fixes it. */
  readonly size: Size | undefined;
  /** How many labels there are, where there are any. */
  readonly labels: number | undefined;
  /** A JSON file of the archive. */
  json(path: string): Promise<unknown>;
  /** Tells the developer. */
  warn(message: string): void;
}

/** A format of detection output, with its options filled in, for one model. */
export interface Decoder {
  /** The outputs that it reads, by name, in the order in which `decode` takes them. */
  readonly outputs: readonly string[];
  /** False where an output has no batch axis: then each image needs a run of its own. */
  readonly isBatched: boolean;
  /** Classes that the model tells apart, where it is known before it has run. */
  readonly classes: number | undefined;
  /** @param size of the input tensor. @throws `model-config` if the tensors do not fit the format */
  decode(views: readonly TensorView[], size: Size): Proposals;
}

/** A decoder with the usual threshold of its non-maximum suppression; 1 where the model suppresses by itself. */
export interface DetectionDecoder extends Decoder {
  readonly iouThreshold: number;
}

/** A format: what can be told about it, and how its decoder is made. */
export interface Format<Options> {
  readonly description: string;
  /** JSON Schemas of the options. */
  readonly options: ConfigSchema;
  /** The usual threshold of non-maximum suppression; 1 where the model suppresses by itself. */
  readonly iouThreshold: number;
  /** @throws `model-config` if the model cannot have this format */
  create(options: Options, model: ModelFacts): Decoder | Promise<Decoder>;
}

/** Tensors of one image joined along their boxes, `[boxes, columns]`. */
export function join(views: readonly TensorView[]): TensorView {
  const [first] = views;
  if (views.length === 1 && first!.dims.length === 2) return first!;
  const columns = first!.dims.at(-1)!;
  const data = new Float32Array(views.reduce((sum, view) => sum + view.data.length, 0));
  let at = 0;
  for (const view of views) {
    data.set(view.data, at);
    at += view.data.length;
  }
  return { dims: [data.length / columns, columns], data };
}

/** Whether an output may be a table of each image; one that declares no dims may be anything. */
export function isTable({ dims }: Pick<OutputInfo, 'dims'>): boolean {
  return dims.length === 0 || dims.length === 2 || dims.length === 3;
}

/** Whether the rows of an output may be the four numbers of a box each. */
export function isBoxTable({ dims }: Pick<OutputInfo, 'dims'>): boolean {
  const columns = dims.at(-1);
  return isTable({ dims }) && (columns === 4 || typeof columns !== 'number');
}

/** Whether an output that is a table has a batch axis before it. */
export function isBatch({ dims }: Pick<OutputInfo, 'dims'>): boolean {
  return dims.length !== 2;
}

/** @throws `model-config` where the outputs' numbers of boxes are known, and differ */
export function checkCounts(
  name: string,
  expected: string,
  outputs: readonly Pick<OutputInfo, 'name' | 'dims'>[],
  counts: readonly (OutputInfo['dims'][number] | undefined)[],
): void {
  const known = counts.filter((count) => typeof count === 'number');
  if (new Set(known).size > 1) throw misfit(name, expected, outputs);
}

/** A `model-config` error: what the decoder reads, and what the model gives instead. */
export function misfit(
  name: string,
  expected: string,
  outputs: readonly Pick<OutputInfo, 'name' | 'dims'>[],
): TabServeError {
  return new TabServeError(
    'model-config',
    `handler.decoder: ${name} reads ${expected}; the model gives ${shown(outputs)}.`,
  );
}

/** Outputs as a run gave them for one image, with a batch axis again. */
export function ofBatch(
  outputs: readonly OutputInfo[],
  views: readonly TensorView[],
): Pick<OutputInfo, 'name' | 'dims'>[] {
  return views.map(({ dims }, index) => ({ name: outputs[index]!.name, dims: ['batch', ...dims] }));
}

/** Outputs with their dims, in words. */
export function shown(outputs: readonly Pick<OutputInfo, 'name' | 'dims'>[]): string {
  return outputs.map(({ name, dims }) => `"${name}" [${dims.map((size) => size ?? '?').join(', ')}]`).join(', ');
}
