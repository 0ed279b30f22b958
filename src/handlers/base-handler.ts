import type { Manifest, ModelConfig } from '../contract/archive.js';
import type { Context, Handler, MaybePromise, Params, ResultOf } from '../contract/handler.js';
import type { OutputInfo, Session, Tensor, TensorInfo, Tensors, TypedArrayInput } from '../contract/tensors.js';
import { type PredictionError, TabServeError } from '../contract/errors.js';
import { LARGEST_TENSOR } from '../contract/limits.js';
import { parseLabels, type Labels } from '../outputs/labels.js';
import { from as tensor, row as rowOf, stack } from '../tensors/tensors.js';
import { transferResult } from '../outputs/transfer.js';
import { runBatch, zeros } from './run-model.js';
import { checkSection, type ConfigSchema } from '../shared/schema.js';
import { rowPart, withFailures } from './batch-contract.js';
import { defaultsOf, schemaOf } from './config.js';
import { unwrap, type Row } from './row.js';

/**
 * The input of one row for `BaseHandler`: a tensor for the input that `inputInfo` describes, or tensors by input name.
 * A tensor has no batch axis, or a batch axis of size 1.
 */
export type TensorInput = Tensor | TypedArrayInput | Readonly<Record<string, Tensor | TypedArrayInput>>;

/** TorchServe's name of the labels file. */
const LABELS = 'index_to_name.json';

/**
 * Implements TorchServe's handler: `handle` calls `preprocess`, `inference` and `postprocess` in this order. Override
 * the stages that differ for your model.
 *
 * Every stage keeps the length and order of the list of rows. To fail a single row, call `context.fail(index, error)`;
 * the handler then ignores what the stages return for this row. Keep the data of a batch in its `context`, never on
 * `this`, because two `handle` calls may overlap.
 */
export class BaseHandler<Input = TensorInput> implements Handler {
  /**
   * Declares the type of a request's `params`; it has no value at run time. Without a declaration, `params` may have
   * any keys. A subclass adds its own:
   * `declare readonly paramsType?: ImageClassifierParams & { readonly language?: string }`.
   */
  declare readonly paramsType?: object;
  /** Declares the type of the options of `explain` beside those of every request; it has no value at run time. */
  declare readonly explainParamsType?: object;
  /** The JSON Schemas of these options. */
  static readonly explainSchema: ConfigSchema = {};
  /** Declares the type of the result for each value of the parameter `result`; it has no value at run time. */
  declare readonly resultForms?: object;

  /**
   * The JSON Schemas of the keys that this class adds to `handler:` in `model-config.yaml`.
   * A request's `params` cannot set a key that is `readOnly`.
   */
  static readonly schema: ConfigSchema = {
    labels: {
      type: ['array', 'object'],
      readOnly: true,
      description:
        "The labels by class index: a list, or any form that index_to_name.json may have. They replace that file's labels.",
    },
    inputName: {
      type: 'string',
      readOnly: true,
      description: "The name of the model's input for the rows. Default: the first input.",
    },
    outputName: {
      type: 'string',
      readOnly: true,
      description: "The name of the model's output that the handler reads. Default: the first output.",
    },
  };

  /** The context that `initialize` received. */
  context!: Context;
  manifest!: Manifest;
  modelYamlConfig: ModelConfig = {};
  /** The opened model. */
  model!: Session;
  /** The labels by class index, from `handler.labels` or `index_to_name.json`; undefined if the archive has neither. */
  mapping: Labels | undefined;
  /** The model's input for the rows: the one that `handler.inputName` names, or the first. */
  inputInfo!: TensorInfo;
  /** The model's output that the handler reads: the one that `handler.outputName` names, or the first. */
  outputInfo!: OutputInfo;
  initialized = false;

  /**
   * Reads the config, opens the model and loads the labels. The worker calls this once.
   * @throws `model-config`, `model-format`, `backend-failed`
   */
  async initialize(context: Context): Promise<void> {
    this.context = context;
    this.modelYamlConfig = context.modelYamlConfig;
    this.#check(this.config, 'handler', context);
    this.manifest = context.manifest;
    this.model = await context.open();
    this.model.inputs.forEach(checkSize);
    this.inputInfo = this.#findTensor('inputName', this.model.inputs);
    this.outputInfo = this.#findTensor('outputName', this.model.outputs);
    this.mapping = await this.#readLabels(context);
    this.initialized = true;
  }

  #check(values: Params, where: string, context: Context): void {
    checkSection(schemaOf(this.constructor as typeof BaseHandler), values, where, context.warn);
  }

  #checkParams(params: Params, context: Context): void {
    const Class = this.constructor as typeof BaseHandler;
    const schema = schemaOf(Class);
    const fixed = Object.keys(params).find((key) => schema[key]?.readOnly);
    if (fixed)
      throw new TabServeError(
        'model-config',
        `params.${fixed}: a request cannot set this key. Set handler.${fixed} in the config.`,
      );
    if (context.request !== 'explain') return this.#check(params, 'params', context);
    checkSection({ ...schema, ...Class.explainSchema }, params, '', context.warn);
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

  /** Returns the `handler:` section of the config. */
  protected get config(): Readonly<Record<string, unknown>> {
    return this.modelYamlConfig.handler ?? {};
  }

  /**
   * Returns the parameter `name` for row `index`. The value in the request's `params` comes first, then the value in
   * the config's `handler:`, then the class's default (`default` in `static schema`); without any of them, it is
   * undefined. `T` is the type that the schema checks.
   */
  protected param<T>(name: string, index: number, context: Context): T {
    const params: Params = context.params[index] ?? {};
    return (params[name] ?? this.config[name] ?? this.defaults[name]) as T;
  }

  /**
   * Returns the default of each parameter, from `static schema`. If a class keeps a default in a field, such as
   * TorchServe's `topk`, its override adds the field's value.
   */
  protected get defaults(): Params {
    return defaultsOf(this.constructor as typeof BaseHandler);
  }

  async #readLabels({ files }: Context): Promise<Labels | undefined> {
    if (this.config['labels'] !== undefined) return parseLabels(this.config['labels'], 'handler.labels');
    return files.has(LABELS) ? parseLabels(await files.json(LABELS), LABELS) : undefined;
  }

  /**
   * Returns the model's inputs for a test run of one row, or undefined if the dims are unknown.
   * This implementation returns zeros.
   */
  example(_context: Context): Tensors | undefined | Promise<Tensors | undefined> {
    return zeros(this.model.inputs);
  }

  /**
   * Runs all stages on a batch of rows. Returns a list of the same length, with a `PredictionError` in the place of
   * each row that failed.
   * @throws `not-initialized`, `batch-contract`, and whatever a stage throws
   */
  async handle(data: readonly Row<Input>[], context: Context): Promise<readonly (ResultOf<this> | PredictionError)[]> {
    if (!this.initialized)
      throw new TabServeError(
        'not-initialized',
        'handle was called before initialize had finished. Await initialize first.',
      );
    if (context.request === 'describe') return [(await this.describeHandle(context)) as ResultOf<this>];
    if (data.length === 0) throw new TabServeError('invalid-input', 'The batch is empty; it needs at least one row.');
    for (const params of new Set(context.params))
      if (Object.keys(params).length > 0) this.#checkParams(params, context);
    const inputs = await this.preprocess(data, context);
    const results = context.failures.size === data.length ? [] : await this.#runModel(inputs, data, context);
    return withFailures(results as readonly ResultOf<this>[], data.length, context);
  }

  async #runModel(inputs: Tensors, data: readonly Row<Input>[], context: Context): Promise<readonly unknown[]> {
    if (context.request === 'explain') return await this.explainHandle(inputs, data, context);
    return await this.postprocess(await this.inference(inputs, context), context);
  }

  /**
   * Converts rows to tensors with a batch axis. This implementation stacks the rows' tensors. It does not change a
   * single row's tensor that already has the rank of the model's input.
   */
  preprocess(data: readonly Row<Input>[], _context: Context): Tensors | Promise<Tensors> {
    const rows = data.map((item) => this.#toNamedTensors(unwrap(item) as TensorInput));
    return Object.fromEntries(Object.keys(rows[0]!).map((name) => [name, this.#batch(name, rows.map((tensors) => tensors[name]))])); // prettier-ignore
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

  /** Runs the model. If the model fixes the size of its batch axis, the batch runs in chunks of this size. */
  async inference(inputs: Tensors, _context: Context): Promise<Tensors> {
    return await runBatch(this.model, inputs);
  }

  /**
   * Converts the model's outputs, which have a batch axis, to one result for each row. This implementation returns each
   * row's part of every output and transfers its buffers to the page.
   *
   * An override may return a list of any other type, with one result for each row, and may call `super.postprocess`
   * without a cast. The two equal signatures with a type parameter make this possible: TypeScript compares an override
   * with overloads as if their type parameters were `any`. Callers do not set the type parameter.
   */
  postprocess<Row extends Tensors = Tensors>(outputs: Tensors, context: Context): MaybePromise<readonly Row[]>;
  postprocess<Row extends Tensors = Tensors>(outputs: Tensors, context: Context): MaybePromise<readonly Row[]>;
  postprocess(outputs: Tensors, context: Context): MaybePromise<readonly unknown[]> {
    return Array.from({ length: context.systemProperties.batchSize }, (_, index) => {
      const rowOutputs = Object.fromEntries(
        Object.entries(outputs).map(([name, output]) => [
          name,
          rowPart(name, output, index, context.systemProperties.batchSize),
        ]),
      );
      const buffers = new Set(
        Object.values(rowOutputs).flatMap(({ data }) => (ArrayBuffer.isView(data) ? [data.buffer as ArrayBuffer] : [])),
      );
      return transferResult(rowOutputs, [...buffers]);
    });
  }

  /** Handles a request for explanations. This implementation calls `getInsights`. */
  async explainHandle(inputs: Tensors, data: readonly Row<Input>[], context: Context): Promise<readonly unknown[]> {
    return await this.getInsights(inputs, data, context);
  }

  /**
   * Returns an explanation of the model's answer for each row.
   * @throws `unsupported` unless a subclass overrides this method
   */
  getInsights(_inputs: Tensors, _data: readonly Row<Input>[], _context: Context): MaybePromise<readonly unknown[]> {
    throw new TabServeError(
      'unsupported',
      `${this.constructor.name} has no explanations. Override getInsights to add them.`,
    );
  }

  /**
   * Returns what `describe` reports as `customizedMetadata`: any value that can be cloned.
   * This implementation returns undefined.
   */
  async describeHandle(_context: Context): Promise<unknown> {
    return undefined;
  }
}

/** @throws `unsupported` if an input is larger than any tensor that can be made for it */
function checkSize({ name, dims }: TensorInfo): void {
  const size = dims.reduce<number>((product, dim) => (typeof dim === 'number' ? product * dim : product), 1);
  if (size > LARGEST_TENSOR)
    throw new TabServeError(
      'unsupported',
      `The model's input "${name}" has the dims [${dims.map((dim) => dim ?? '?').join(', ')}], and the limit is ${LARGEST_TENSOR} elements. Export the model with smaller dims, or a smaller batch.`,
    );
}
