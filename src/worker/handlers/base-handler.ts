import type { Context, InputKind, MaybePromise } from '../../contract/handler.js';
import type { OutputInfo, Session, Tensor, TensorInfo, Tensors, TypedArrayInput } from '../../contract/tensors.js';
import { asTabServeError, TabServeError } from '../../contract/errors.js';
import { MAX_TENSOR_ELEMENTS } from '../../contract/limits.js';
import { parseLabels, type Labels } from '../outputs/labels.js';
import { from as tensor, row as rowOf, stack } from '../tensors/tensors.js';
import { checkRows, rowPart } from '../outputs/rows.js';
import { transferResult } from '../outputs/transfer.js';
import { declareStandard, isStandard } from './handler-contract.js';
import { exportOf } from './model-export.js';
import { runBatch, zeros } from './run-model.js';
import type { ConfigSchema } from '../../shared/schema.js';
import type { JsonTensor } from '../tensors/json-row.js';
import { loadScript } from '../../shared/load-script.js';
import { unwrap, type Row as RowOf } from './row.js';
import { StagedHandler } from './staged-handler.js';
import { BASE_HANDLER_SCHEMA } from './schemas.js';

/**
 * The input of one row for `BaseHandler`: a tensor for the input that `inputInfo` describes, or tensors by input name.
 * A tensor has no batch axis, or a batch axis of size 1. Lists in lists stand for a tensor, as in JSON; a number or a
 * text, for a tensor of one element, such as a column of a table.
 */
export type TensorInput =
  | Tensor
  | TypedArrayInput
  | readonly JsonTensor[]
  | Readonly<Record<string, Tensor | TypedArrayInput | JsonTensor>>;

/** TorchServe's name of the labels file. */
const LABELS = 'index_to_name.json';

/** The keys of `handler:` that only the config sets. */
export interface BaseHandlerConfig {
  /**
   * The labels by class index: a list, or any form that index_to_name.json may have. They replace that file's
   * labels. Without both, the names in the model's file are the labels, if Ultralytics exported it.
   * @schema {"type":["array","object"]}
   */
  readonly labels?: readonly unknown[] | Readonly<Record<string, unknown>>;
  /**
   * The name of the model's input for the rows. Default: the first input; for images, the first that is neither
   * pixel_mask nor a photo's size.
   */
  readonly inputName?: string;
  /** The name of the model's output that the handler reads. Default: the first output. */
  readonly outputName?: string;
}

/**
 * Implements TorchServe's handler: `handle` calls `preprocess`, `inference` and `postprocess` in this order. Override
 * the stages that differ for your model.
 *
 * Every stage keeps the length and order of the list of rows. To fail a single row, call `context.fail(index, error)`;
 * the handler then ignores what the stages return for this row. Keep the data of a batch in its `context`, never on
 * `this`, because two `handle` calls may overlap.
 * @answer the model's outputs: tensors by name
 */
export class BaseHandler<Input = TensorInput, Result = Tensors, Explanation = unknown> extends StagedHandler<
  Input,
  Tensors,
  Tensors
> {
  static override readonly takes: InputKind = 'tensors';

  /**
   * The JSON Schemas of the keys that this class adds to `handler:` in `model-config.yaml`.
   * A request's `params` cannot set a key that is `readOnly`.
   */
  declare readonly configType?: BaseHandlerConfig;
  static override readonly schema: ConfigSchema = BASE_HANDLER_SCHEMA;

  /** The opened model. */
  model!: Session;
  /**
   * The labels by class index, from `handler.labels` or `index_to_name.json`, otherwise the names in the model's file;
   * undefined if there are none.
   */
  mapping: Labels | undefined;
  /** The model's input for the rows: the one that `handler.inputName` names, or the first. */
  inputInfo!: TensorInfo;
  /** The model's output that the handler reads: the one that `handler.outputName` names, or the first. */
  outputInfo!: OutputInfo;

  /**
   * Reads the config, opens the model and loads the labels. The worker calls this once.
   * @throws `model-config`, `model-format`, `backend-failed`
   */
  override async initialize(context: Context): Promise<void> {
    this.configure(context);
    this.model = await context.open();
    this.model.inputs.forEach(checkSize);
    this.inputInfo = this.#findTensor('inputName', this.model.inputs);
    this.outputInfo = this.#findTensor('outputName', this.model.outputs);
    this.mapping = await this.readLabels(context, this.config['labels']);
    this.initialized = true;
  }

  #findTensor<Info extends OutputInfo>(key: 'inputName' | 'outputName', infos: readonly Info[]): Info {
    const wanted = this.config[key];
    const found = wanted === undefined ? infos[0] : infos.find(({ name }) => name === wanted);
    if (found) return found;
    throw new TabServeError(
      'model-config',
      `handler.${key}: the model has no "${String(wanted)}"; it has ${infos.map(({ name }) => `"${name}"`).join(', ') || 'none'}.`,
    );
  }

  /** Returns the labels of the model's classes. @param own those of the config @throws `model-config`, `model-format` */
  protected async readLabels(context: Context, own: unknown): Promise<Labels | undefined> {
    const { files } = context;
    const exported = await exportOf(this.model);
    if (own === undefined && !files.has(LABELS)) return exported?.names;
    const [given, source] = own === undefined ? [await files.json(LABELS), LABELS] : [own, 'handler.labels'];
    const labels = parseLabels(given, source);
    const fault = exported?.labelsFault(given, labels, source);
    if (fault !== undefined) context.warn(fault);
    return labels;
  }

  /**
   * Returns the model's inputs for a test run of one row, or undefined if the dims are unknown.
   * This implementation returns zeros.
   */
  example(_context: Context): Tensors | undefined | Promise<Tensors | undefined> {
    return zeros(this.model.inputs);
  }

  /**
   * Converts rows to tensors with a batch axis. This implementation stacks the rows' tensors. It does not change a
   * single row's tensor that already has the rank of the model's input.
   */
  override preprocess(data: readonly RowOf<Input>[], _context: Context): Tensors | Promise<Tensors> {
    const rows = data.map(unwrap) as readonly unknown[];
    if (!rows.some(isJson)) return this.#stack(rows.map((row) => this.#toNamedTensors(row as TensorInput)));
    return loadScript(async () => (await import('../tensors/json-row.js')).tensorsOfJson).then((tensorsOfJson) =>
      this.#stack(
        rows.map((row) =>
          isJson(row)
            ? tensorsOfJson(row, this.model.inputs, this.inputInfo.name)
            : this.#toNamedTensors(row as TensorInput),
        ),
      ),
    );
  }

  #stack(rows: readonly Readonly<Record<string, Tensor>>[]): Tensors {
    return Object.fromEntries(
      Object.keys(rows[0]!).map((name) => [
        name,
        this.#batch(
          name,
          rows.map((tensors) => tensors[name]),
        ),
      ]),
    );
  }

  #batch(name: string, values: readonly (Tensor | undefined)[]): Tensor {
    const rank = this.model.inputs.find((input) => input.name === name)?.dims.length;
    const known = values.filter((value) => value !== undefined);
    if (rank === undefined || known.length < values.length) {
      throw new TabServeError(
        'invalid-input',
        `Every row must have tensors for the same inputs of the model. The model's inputs are ${this.model.inputs.map((input) => `"${input.name}"`).join(', ')}.`,
      );
    }
    if (known.length === 1 && known[0]!.dims.length === rank) return known[0]!;
    return stack(known.map((value) => (value.dims.length === rank && value.dims[0] === 1 ? rowOf(value, 0) : value)));
  }

  #toNamedTensors(input: TensorInput): Record<string, Tensor> {
    if (typeof input !== 'object' || input === null)
      throw new TabServeError(
        'invalid-input',
        `Expected a tensor, or an object with a tensor for each input name, got ${input === null ? 'null' : typeof input}.`,
      );
    if ('dims' in input) return { [this.inputInfo.name]: tensor(input as Tensor) };
    return Object.fromEntries(
      Object.entries(input as Record<string, Tensor>).map(([name, value]) => [name, tensor(value)]),
    );
  }

  /**
   * Runs the model. If the model fixes the size of its batch axis, the batch runs in sub-batches of this size; if it
   * has `unbatchedOutputs`, each row runs alone.
   */
  override async inference(inputs: Tensors, { signal }: Context): Promise<Tensors> {
    return await runBatch(this.model, inputs, { signal }, this.unbatchedOutputs);
  }

  /**
   * The outputs that have no batch axis, whatever the inputs have: the rows of a batch run one by one, and if such
   * outputs differ in length, the shorter ones are padded with −1. Undefined if there are none.
   */
  protected unbatchedOutputs: readonly string[] | undefined;

  /**
   * Whether `inference` does nothing but run the model, and reads no number of its inputs. Then these may stay on the
   * GPU, and a golden example also warms the backend. It is true for the built-in methods that do so, and false for an
   * override, until its class says `override get onlyRunsModel() { return true; }`.
   */
  get onlyRunsModel(): boolean {
    return isStandard(this.inference);
  }

  static {
    declareStandard(this.prototype.inference, this.prototype.postprocess);
  }

  /**
   * Converts the model's outputs, which have a batch axis, to one result for each row, with `rowResults`. A row that has
   * failed has `emptyResult`; without one, it has what the model made of it, so that an override need not look.
   *
   * An override may return a list of any other type, with one result for each row, and may call `super.postprocess`
   * without a cast. The two equal signatures with a type parameter make this possible: TypeScript compares an override
   * with overloads as if their type parameters were `any`. Callers do not set the type parameter.
   */
  override postprocess<Row extends Result = Result>(outputs: Tensors, context: Context): MaybePromise<readonly Row[]>;
  override postprocess<Row extends Result = Result>(outputs: Tensors, context: Context): MaybePromise<readonly Row[]>;
  override async postprocess(outputs: Tensors, context: Context): Promise<readonly unknown[]> {
    const resultOf = this.rowResults(outputs, context);
    const results: unknown[] = [];
    for (let index = 0; index < context.systemProperties.batchSize; index++) {
      results.push(this.emptyResult);
      if (index > 0) context.heartbeat();
      if (this.emptyResult !== undefined && context.failures.has(index)) continue;
      try {
        results[index] = await resultOf(index);
      } catch (error) {
        context.signal.throwIfAborted();
        // A row that has failed before keeps its first error.
        context.fail(index, asTabServeError(error, 'postprocess'));
      }
    }
    return results;
  }

  /** What `postprocess` returns for a row that has failed. */
  protected emptyResult: Result | undefined;

  /**
   * Checks the model's outputs for a batch, and returns the function that converts them to the result of row `index`.
   * What this method throws fails the batch; what the function throws fails the row. This implementation's results are
   * the row's part of every output, whose buffers it transfers to the page.
   */
  protected rowResults(
    outputs: Tensors,
    { systemProperties: { batchSize } }: Context,
  ): (index: number) => MaybePromise<Result> {
    if (batchSize > 1) for (const [name, output] of Object.entries(outputs)) checkRows(name, output, batchSize);
    return (index) => {
      const parts = Object.entries(outputs).map(
        ([name, output]) => [name, rowPart(name, output, index, batchSize)] as const,
      );
      const buffers = parts.flatMap(([, { data }]) => (ArrayBuffer.isView(data) ? [data.buffer as ArrayBuffer] : []));
      return transferResult(Object.fromEntries(parts), [...new Set(buffers)]) as Result;
    };
  }

  /**
   * Returns an explanation of the model's answer for each row: those of `explainRows`. An override may return a list of
   * any other type, as one of `postprocess` may.
   * @throws `unsupported` if the class has no explanations
   */
  override getInsights<Row extends Explanation = Explanation>(
    inputs: Tensors,
    data: readonly RowOf<Input>[],
    context: Context,
  ): MaybePromise<readonly Row[]>;
  override getInsights<Row extends Explanation = Explanation>(
    inputs: Tensors,
    data: readonly RowOf<Input>[],
    context: Context,
  ): MaybePromise<readonly Row[]>;
  override getInsights(
    inputs: Tensors,
    data: readonly RowOf<Input>[],
    context: Context,
  ): MaybePromise<readonly unknown[]> {
    return this.explainRows(inputs, data, context);
  }

  /** Explains the model's answer to each row. This implementation throws `unsupported`. */
  protected explainRows(
    inputs: Tensors,
    data: readonly RowOf<Input>[],
    context: Context,
  ): MaybePromise<readonly Explanation[]> {
    return super.getInsights(inputs, data, context) as MaybePromise<readonly Explanation[]>;
  }
}

/** @throws `unsupported` if an input is larger than any tensor that can be made for it */
function checkSize({ name, dims }: TensorInfo): void {
  const size = dims.reduce<number>((product, dim) => (typeof dim === 'number' ? product * dim : product), 1);
  if (size > MAX_TENSOR_ELEMENTS)
    throw new TabServeError(
      'unsupported',
      `The model's input "${name}" has the dims [${dims.map((dim) => dim ?? '?').join(', ')}], and the limit is ${MAX_TENSOR_ELEMENTS} elements. Export the model with smaller dims, or a smaller batch.`,
    );
}

/** Returns whether a row has lists, or bare elements by name, instead of typed arrays. */
function isJson(row: unknown): boolean {
  if (typeof row !== 'object' || row === null) return false;
  if (Array.isArray(row)) return true;
  return !('dims' in row) && Object.values(row).some((value) => typeof value !== 'object' || Array.isArray(value));
}
