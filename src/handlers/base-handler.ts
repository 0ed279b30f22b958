import type { Manifest, ModelConfig } from '../contract/archive.js';
import type { Context, Handler, MaybePromise, Params, ResultOf } from '../contract/handler.js';
import type { OutputInfo, Session, Tensor, TensorInfo, Tensors, TypedArrayInput } from '../contract/tensors.js';
import { PredictionError, TabServeError } from '../contract/errors.js';
import { parseLabels, type Labels } from '../outputs/labels.js';
import { from as tensor, row as rowOf, stack } from '../tensors/tensors.js';
import { transferResult } from '../outputs/transfer.js';
import { runBatch, zeros } from './run-model.js';
import { checkSection, type ConfigSchema } from '../shared/schema.js';
import { defaultsOf, schemaOf } from './config.js';
import { unwrap, type Row } from './row.js';

/** What `BaseHandler` takes: a tensor for the model's only input, or tensors by name; without a batch axis, or with one of size 1. */
export type TensorInput = Tensor | TypedArrayInput | Readonly<Record<string, Tensor | TypedArrayInput>>;

/** TorchServe's name for the file with the labels. */
const LABELS = 'index_to_name.json';

/**
 * TorchServe's handler: `initialize`, `preprocess`, `inference` and `postprocess`, and `handle` that ties them together. Override what differs.
 *
 * Lists keep their length and order from stage to stage. A row that fails keeps its place: tell `context.fail(i, error)`, and what the stages
 * return there is ignored. What belongs to a batch is in its `context`, never on `this`: two `handle` calls may overlap.
 */
export class BaseHandler<Input = TensorInput> implements Handler {
  /**
   * For the compiler alone: the `params` that a request may give; any, unless a class declares its own. A subclass adds to them:
   * `declare readonly paramsType?: ImageClassifierParams & { readonly language?: string }`.
   */
  declare readonly paramsType?: object;
  /** For the compiler alone: each value of the param `result`, and the form of the result that it asks for. */
  declare readonly resultForms?: object;

  /** JSON Schemas of this class's own keys in `handler:` of `model-config.yaml`. A `readOnly` one cannot be given with a request's `params`. */
  static readonly schema: ConfigSchema = {
    labels: {
      type: ['array', 'object'],
      readOnly: true,
      description: "Labels by class index: a list, or one of the forms of index_to_name.json, in that file's place.",
    },
    inputName: {
      type: 'string',
      readOnly: true,
      description: "The model's input that takes the row, where it is not the first.",
    },
    outputName: {
      type: 'string',
      readOnly: true,
      description: "The model's output that is read, where it is not the first.",
    },
  };

  /** The context of `initialize`. */
  context!: Context;
  manifest!: Manifest;
  modelYamlConfig: ModelConfig = {};
  /** The model. */
  model!: Session;
  /** Labels by class index, from `index_to_name.json`; undefined without one. */
  mapping: Labels | undefined;
  /** The model's input that takes the row: `handler.inputName`, else the first. */
  inputInfo!: TensorInfo;
  /** The model's output that is read: `handler.outputName`, else the first. */
  outputInfo!: OutputInfo;
  initialized = false;

  /**
   * Called once: reads the config, opens the model, loads the labels.
   * @throws `model-config`, `model-format`, `backend-failed`
   */
  async initialize(context: Context): Promise<void> {
    this.context = context;
    this.modelYamlConfig = context.modelYamlConfig;
    this.#check(this.config, 'handler', context);
    this.manifest = context.manifest;
    this.model = await context.open();
    this.inputInfo = this.#named('inputName', this.model.inputs);
    this.outputInfo = this.#named('outputName', this.model.outputs);
    this.mapping = await this.#readLabels(context);
    this.initialized = true;
  }

  #check(values: Params, where: string, context: Context): void {
    checkSection(schemaOf(this.constructor as typeof BaseHandler), values, where, context.warn);
  }

  #checkParams(params: Params, context: Context): void {
    const schema = schemaOf(this.constructor as typeof BaseHandler);
    const fixed = Object.keys(params).find((key) => schema[key]?.readOnly);
    if (fixed)
      throw new TabServeError('model-config', `params.${fixed} cannot differ between requests; set it in the config.`);
    this.#check(params, 'params', context);
  }

  #named<Info extends OutputInfo>(key: 'inputName' | 'outputName', infos: readonly Info[]): Info {
    const wanted = this.config[key];
    const found = wanted === undefined ? infos[0] : infos.find(({ name }) => name === wanted);
    if (found) return found;
    throw new TabServeError(
      'model-config',
      `handler.${key}: the model has no "${String(wanted)}"; it has ${infos.map(({ name }) => `"${name}"`).join(', ') || 'none'}.`,
    );
  }

  /** The `handler:` section of the config. */
  protected get config(): Readonly<Record<string, unknown>> {
    return this.modelYamlConfig.handler ?? {};
  }

  /**
   * Returns a parameter of row `index`: the request's `params`, else the config's `handler:`, else the class's default (`default` in `static schema`);
   * undefined if none of them has it. `T` is the type that the schema checks.
   */
  protected param<T>(name: string, index: number, context: Context): T {
    const params: Params = context.params[index] ?? {};
    return (params[name] ?? this.config[name] ?? this.defaults[name]) as T;
  }

  /** The defaults of the parameters: those of `static schema`. A class with a field for one, as TorchServe's `topk`, adds the field's value. */
  protected get defaults(): Params {
    return defaultsOf(this.constructor as typeof BaseHandler);
  }

  async #readLabels({ files }: Context): Promise<Labels | undefined> {
    if (this.config['labels'] !== undefined) return parseLabels(this.config['labels'], 'handler.labels');
    return files.has(LABELS) ? parseLabels(await files.json(LABELS), LABELS) : undefined;
  }

  /** Input of one row for a first run; undefined where the dims cannot be known. Here: zeros. */
  example(_context: Context): Tensors | undefined | Promise<Tensors | undefined> {
    return zeros(this.model.inputs);
  }

  /**
   * The whole way of a batch: list in, list of the same length out; a row's failure is a `PredictionError` in its place.
   * @throws `not-initialized`, `batch-contract`, and whatever a stage throws
   */
  async handle(data: readonly Row<Input>[], context: Context): Promise<readonly (ResultOf<this> | PredictionError)[]> {
    if (!this.initialized) throw new TabServeError('not-initialized', 'handle was called before initialize.');
    if (context.request === 'describe') return [(await this.describeHandle(context)) as ResultOf<this>];
    if (data.length === 0) throw new TabServeError('invalid-input', 'The batch is empty.');
    for (const params of new Set(context.params))
      if (Object.keys(params).length > 0) this.#checkParams(params, context);
    const inputs = await this.preprocess(data, context);
    const results = context.failures.size === data.length ? [] : await this.#answer(inputs, data, context);
    return settle(results as readonly ResultOf<this>[], data.length, context);
  }

  async #answer(inputs: Tensors, data: readonly Row<Input>[], context: Context): Promise<readonly unknown[]> {
    if (context.request === 'explain') return await this.explainHandle(inputs, data, context);
    return await this.postprocess(await this.inference(inputs, context), context);
  }

  /** Rows → tensors with a batch axis. Here: stacks tensors; one alone that has the model's rank already passes as it is. */
  preprocess(data: readonly Row<Input>[], _context: Context): Tensors | Promise<Tensors> {
    const rows = data.map((item) => this.#byName(unwrap(item) as TensorInput));
    return Object.fromEntries(Object.keys(rows[0]!).map((name) => [name, this.#batch(name, rows.map((tensors) => tensors[name]))])); // prettier-ignore
  }

  #batch(name: string, values: readonly (Tensor | undefined)[]): Tensor {
    const rank = this.model.inputs.find((input) => input.name === name)?.dims.length;
    const known = values.filter((value) => value !== undefined);
    if (rank === undefined || known.length < values.length) {
      throw new TabServeError(
        'invalid-input',
        `Every row needs the same inputs, of ${this.model.inputs.map((input) => `"${input.name}"`).join(', ')}.`,
      );
    }
    if (known.length === 1 && known[0]!.dims.length === rank) return known[0]!;
    return stack(known.map((value) => (value.dims.length === rank && value.dims[0] === 1 ? rowOf(value, 0) : value)));
  }

  #byName(input: TensorInput): Record<string, Tensor> {
    if (typeof input !== 'object' || input === null)
      throw new TabServeError(
        'invalid-input',
        `Expected a tensor or tensors by name, got ${input === null ? 'null' : typeof input}.`,
      );
    if ('dims' in input) return { [this.inputInfo.name]: tensor(input as Tensor) };
    return Object.fromEntries(
      Object.entries(input as Record<string, Tensor>).map(([name, value]) => [name, tensor(value)]),
    );
  }

  /** Runs the model. One whose batch axis is fixed gets the batch in pieces. */
  async inference(inputs: Tensors, _context: Context): Promise<Tensors> {
    return await runBatch(this.model, inputs);
  }

  /**
   * Turns tensors with a batch axis into one result a row. Here: each row's own part of every output, moved to the page.
   *
   * An override may return any list, of one result a row, and it calls `super.postprocess` without a cast. The two equal signatures with a type
   * parameter allow it: TypeScript compares an override with overloads as if their type parameters were `any`. Leave the type parameter alone.
   */
  postprocess<Row extends Tensors = Tensors>(outputs: Tensors, context: Context): MaybePromise<readonly Row[]>;
  postprocess<Row extends Tensors = Tensors>(outputs: Tensors, context: Context): MaybePromise<readonly Row[]>;
  postprocess(outputs: Tensors, context: Context): MaybePromise<readonly unknown[]> {
    return Array.from({ length: context.systemProperties.batchSize }, (_, index) => {
      const own = Object.fromEntries(
        Object.entries(outputs).map(([name, output]) => [
          name,
          ownPart(name, output, index, context.systemProperties.batchSize),
        ]),
      );
      const buffers = new Set(
        Object.values(own).flatMap(({ data }) => (ArrayBuffer.isView(data) ? [data.buffer as ArrayBuffer] : [])),
      );
      return transferResult(own, [...buffers]);
    });
  }

  /** Answers a request for explanations; here with `getInsights`. */
  async explainHandle(inputs: Tensors, data: readonly Row<Input>[], context: Context): Promise<readonly unknown[]> {
    return await this.getInsights(inputs, data, context);
  }

  /** What about each row made the model answer as it does. @throws `unsupported` unless overridden */
  async getInsights(_inputs: Tensors, _data: readonly Row<Input>[], _context: Context): Promise<readonly unknown[]> {
    throw new TabServeError('unsupported', `${this.constructor.name} explains nothing; override getInsights.`);
  }

  /** What a handler of your own adds to what `describe` tells of the model: anything that can be cloned. Here: nothing. */
  async describeHandle(_context: Context): Promise<unknown> {
    return undefined;
  }
}

function ownPart(name: string, output: Tensor, index: number, rows: number): Tensor {
  if (output.dims[0] === rows) return rowOf(output, index);
  if (rows === 1) return output;
  throw new TabServeError(
    'batch-contract',
    `Output "${name}" of dims [${output.dims.join(', ')}] has no axis for ${rows} rows.`,
  );
}

function settle<Result>(
  results: readonly Result[],
  rows: number,
  { failures }: Context,
): readonly (Result | PredictionError)[] {
  const allFailed = failures.size === rows;
  if (!allFailed && (!Array.isArray(results) || results.length !== rows)) {
    throw new TabServeError(
      'batch-contract',
      `The handler got ${rows} rows and returned ${Array.isArray(results) ? `${results.length} results` : 'no list'}; it must return one a row.`,
    );
  }
  return Array.from({ length: rows }, (_, index) => {
    const failure = failures.get(index);
    return failure ? PredictionError.from(failure) : results[index]!;
  });
}
