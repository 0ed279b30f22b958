import type { DType, OutputInfo, Session, Tensor, TensorDataMap, TensorInfo, Tensors } from '../../contract/tensors.js';
import { zeroData } from '../../contract/dtypes.js';
import { invalidInput } from '../../contract/errors.js';
import { checkFeeds } from '../engines/session.js';
import { concat, from } from '../tensors/tensors.js';
import type { Handler } from '../../contract/handler.js';
import { TextHandler } from '../handlers/text-handler.js';
import { VisionHandler } from '../handlers/vision-handler.js';
import type { TestContextOptions, TestModelOptions } from './test-context.js';

/** A tensor as nested lists: numbers make float32, bigints int64, booleans bool, and texts string. */
export type NestedList = readonly (number | bigint | boolean | string | NestedList)[];

/** The outputs of a stand-in for a model, by name: nested lists, or tensors. */
export type TestOutputs = Readonly<Record<string, NestedList | Tensor>>;

/** Computes the outputs of a stand-in for a model. */
export type TestModel = (feeds: Tensors) => TestOutputs | Promise<TestOutputs>;

/** A stand-in for a model. It returns the given outputs, and records its feeds. */
export interface TestSession extends Session {
  /** The feeds of each run, in order. */
  readonly runs: readonly Tensors[];
}

/**
 * Creates a stand-in for a model.
 * @param declared whether the test gave `inputs`: then feeds are checked as an engine checks them
 */
export async function createTestSession(
  model: TestOutputs | TestModel,
  inputs: readonly TensorInfo[],
  declared: boolean,
): Promise<TestSession> {
  const runs: Tensors[] = [];
  return {
    inputs,
    outputs: typeof model === 'function' ? await computedOutputs(model, inputs) : fixedOutputs(toTensors(model)),
    runs,
    async run(feeds) {
      if (declared) checkFeeds(feeds, inputs);
      runs.push(feeds);
      if (typeof model === 'function') return toTensors(await model(feeds));
      const rows = rowsOf(feeds, inputs);
      return mapValues(toTensors(model), (output, name) => repeated(output, name, rows));
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** Describes fixed outputs. Their first axis counts rows, so it is dynamic. */
function fixedOutputs(outputs: Tensors): OutputInfo[] {
  return Object.entries(outputs).map(([name, { dtype, dims }]) => ({ name, dtype, dims: [null, ...dims.slice(1)] }));
}

/**
 * Describes computed outputs. Runs the model on zeros of two sizes: a dimension that differs between the two runs is
 * dynamic.
 */
async function computedOutputs(model: TestModel, inputs: readonly TensorInfo[]): Promise<OutputInfo[]> {
  const outputs = toTensors(await model(zeros(inputs, 1, 4)));
  const others = toTensors(await model(zeros(inputs, 2, 6)));
  return Object.entries(outputs).map(([name, { dtype, dims }]) => ({
    name,
    dtype,
    dims: dims.map((size, axis) => (axis > 0 && size === others[name]?.dims[axis] ? size : null)),
  }));
}

function zeros(inputs: readonly TensorInfo[], rows: number, dynamic: number): Tensors {
  const tensors = inputs.map(({ name, dtype, dims }) => {
    const known = dims.map((size, axis) => (typeof size === 'number' ? size : axis === 0 ? rows : dynamic));
    const length = known.reduce((product, size) => product * size, 1);
    return [name, { dtype, dims: known, data: zeroData(dtype, length) }] as const;
  });
  return Object.fromEntries(tensors);
}

/**
 * Returns the number of rows of a batch: the smallest first axis among the inputs with a dynamic one. An input with all
 * rows' tokens in one axis has a larger one.
 */
function rowsOf(feeds: Tensors, inputs: readonly TensorInfo[]): number {
  const counts = Object.entries(feeds)
    .filter(([name]) => typeof inputs.find((input) => input.name === name)?.dims[0] !== 'number')
    .map(([, { dims }]) => dims[0] ?? 1);
  return counts.length === 0 ? 1 : Math.min(...counts);
}

/** @throws `invalid-input` */
function repeated(output: Tensor, name: string, rows: number): Tensor {
  const [own] = output.dims;
  if (rows <= 1 || own === rows) return output;
  if (own === 1) return concat(Array.from({ length: rows }, () => output));
  throw invalidInput(
    `Output "${name}" has ${own} rows, but the batch has ${rows}. Give one row for all inputs, one row per input, or a function of the feeds.`,
  );
}

/** @throws `invalid-input` naming the output */
function toTensors(outputs: TestOutputs): Tensors {
  return mapValues(outputs, (output, name) => (isList(output) ? fromList(output, name) : from(output)));
}

/** Returns whether a value is a list. `Array.isArray` does not narrow a readonly list. */
function isList(value: unknown): value is NestedList {
  return Array.isArray(value);
}

function fromList(list: NestedList, name: string): Tensor {
  const dims = dimsOf(list);
  const values = (list as readonly unknown[]).flat(Infinity);
  if (!hasDims(list, dims)) throw invalidInput(`Output "${name}": lists of one level must have the same length.`);
  const type = typeof values[0];
  if (values.some((value) => typeof value !== type))
    throw invalidInput(`Output "${name}": expected values of one type, numbers, bigints, booleans or texts.`);
  const make = MAKERS[type];
  if (!make && values.length > 0)
    throw invalidInput(`Output "${name}": expected numbers, bigints, booleans or texts, not ${type}.`);
  return { ...(make ?? MAKERS['number']!)(values), dims };
}

const MAKERS: Readonly<Record<string, (values: readonly unknown[]) => { dtype: DType; data: TensorDataMap[DType] }>> = {
  number: (values) => ({ dtype: 'float32', data: Float32Array.from(values as number[]) }),
  bigint: (values) => ({ dtype: 'int64', data: BigInt64Array.from(values as bigint[]) }),
  boolean: (values) => ({ dtype: 'bool', data: Uint8Array.from(values as boolean[], Number) }),
  string: (values) => ({ dtype: 'string', data: values as string[] }),
};

function dimsOf(list: unknown): number[] {
  return isList(list) ? [list.length, ...dimsOf(list[0])] : [];
}

function hasDims(list: unknown, [size, ...rest]: readonly number[]): boolean {
  if (size === undefined) return !isList(list);
  return isList(list) && list.length === size && list.every((inner) => hasDims(inner, rest));
}

function mapValues<T>(record: Readonly<Record<string, T>>, change: (value: T, name: string) => Tensor): Tensors {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value, name)]));
}

/** Creates stand-ins for a handler's model and its archive's files. */
export async function standIn(
  handler: Handler,
  {
    outputs = {},
    labels,
    inputs,
    ...options
  }: Partial<TestModelOptions> & Pick<TestContextOptions, 'config' | 'files'>,
): Promise<{ readonly session: TestSession; readonly files: NonNullable<TestContextOptions['files']> }> {
  const session = await createTestSession(outputs, inputs ?? usualInputs(handler), inputs !== undefined);
  const files = {
    ...(labels && { 'index_to_name.json': JSON.stringify(labels) }),
    ...(needsTokenizer(handler, options) && { 'tokenizer.json': JSON.stringify(WORDS_ALIKE) }),
    ...options.files,
  };
  return { session, files };
}

function usualInputs(handler: Handler): readonly TensorInfo[] {
  if (handler instanceof VisionHandler) return [{ name: 'image', dtype: 'float32', dims: ['batch', null, null, null] }];
  if (handler instanceof TextHandler)
    return ['input_ids', 'attention_mask'].map((name) => ({ name, dtype: 'int64', dims: ['batch', 'length'] }));
  return [{ name: 'input', dtype: 'float32', dims: ['batch', null] }];
}

function needsTokenizer(handler: Handler, { config }: TestContextOptions): boolean {
  return handler instanceof TextHandler && config?.handler?.['tokenizer'] !== 'torchserve';
}

/** A `tokenizer.json` without a vocabulary: every word is an unknown token. */
const WORDS_ALIKE = {
  version: '1.0',
  truncation: null,
  padding: null,
  added_tokens: [],
  normalizer: null,
  pre_tokenizer: { type: 'Whitespace' },
  post_processor: null,
  decoder: null,
  model: { type: 'WordPiece', vocab: { '[PAD]': 0, '[UNK]': 1 }, unk_token: '[UNK]', continuing_subword_prefix: '##' },
};
