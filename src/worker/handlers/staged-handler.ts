import type { Manifest, ModelConfig } from '../../contract/archive.js';
import type { Context, Handler, InputKind, MaybePromise, Params, ResultKind } from '../../contract/handler.js';
import type { ResultOf } from '../../contract/handler-types.js';
import type { HuggingFaceTask } from '../../contract/hugging-face-task.js';
import type { Signature } from '../../contract/task.js';
import { type PredictionError, TabServeError } from '../../contract/errors.js';
import { checkSection, type ConfigSchema } from '../../shared/schema.js';
import { type Row, withFailures } from './row.js';
import { defaultsOf, schemaOf } from './descriptor.js';

/**
 * Has what all handler classes of TabServe share: the config with its schema, and `handle`, which calls the stages in
 * order.
 */
export abstract class StagedHandler<Input, Prepared, Outputs> implements Handler {
  /**
   * Declares the type of a request's `params`; it has no value at run time. Without a declaration, `params` may have
   * any keys. A subclass adds its own:
   * `declare readonly paramsType?: ImageClassifierParams & { readonly language?: string }`.
   */
  declare readonly paramsType?: object;

  /** The type of the keys of `handler:` that only the config sets. */
  declare readonly configType?: object;
  /** Declares the type of the options of `explain` beside those of every request; it has no value at run time. */
  declare readonly explainParamsType?: object;
  /** The JSON Schemas of these options. */
  static readonly explainSchema: ConfigSchema = {};
  /** Declares the type of the result for each value of the parameter `result`; it has no value at run time. */
  declare readonly resultForms?: object;

  /** What a row is, if the class, or one that it extends, says it. */
  static readonly takes: InputKind | undefined;
  /** What a result is, if the class, or one that it extends, says it. A path of OpenAI's API asks for one kind. */
  static readonly makes: ResultKind | undefined;
  /** Which models of Hugging Face's layout the class serves. */
  static readonly huggingFace: HuggingFaceTask | undefined;

  /** What its models look like, by which the nearest handler of a model is found whose files name no task. */
  static readonly nearest: readonly Signature[] | undefined;
  /** The task of Ultralytics' models whose outputs this class reads. No two classes have the same one. */
  static readonly ultralytics: string | undefined;

  /**
   * The JSON Schemas of the keys that this class adds to `handler:` in `model-config.yaml`.
   * A request's `params` cannot set a key that is `readOnly`.
   */
  static readonly schema: ConfigSchema = {};

  /** The context that `initialize` received. */
  context!: Context;
  manifest!: Manifest;
  modelYamlConfig: ModelConfig = {};
  initialized = false;

  abstract initialize(context: Context): Promise<void>;
  abstract preprocess(data: readonly Row<Input>[], context: Context): MaybePromise<Prepared>;
  abstract inference(inputs: Prepared, context: Context): MaybePromise<Outputs>;
  abstract postprocess(outputs: Outputs, context: Context): MaybePromise<readonly unknown[]>;

  /** Takes over the context that `initialize` received, and checks the config. @throws `model-config` */
  protected configure(context: Context): void {
    this.context = context;
    this.modelYamlConfig = context.modelYamlConfig;
    checkSection(schemaOf(this.constructor as typeof StagedHandler), this.config, 'handler', context.warn);
    this.manifest = context.manifest;
  }

  /** @throws `invalid-input` */
  #checkParams(params: Params, { kind, warn }: Context): void {
    const Class = this.constructor as typeof StagedHandler;
    const schema = schemaOf(Class);
    const fixed = Object.keys(params).find((key) => schema[key]?.readOnly);
    if (fixed)
      throw new TabServeError(
        'invalid-input',
        `params.${fixed}: a request cannot set this key. Set handler.${fixed} in the config.`,
      );
    if (kind === 'explain') checkSection({ ...schema, ...Class.explainSchema }, params, '', warn, 'invalid-input');
    else checkSection(schema, params, 'params', warn, 'invalid-input');
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
    return defaultsOf(this.constructor as typeof StagedHandler);
  }

  /**
   * Runs all stages on a batch of rows. Returns a list of the same length, with a `PredictionError` for each row that
   * failed.
   * @throws `not-initialized`, `batch-contract`, and whatever a stage throws
   */
  async handle(data: readonly Row<Input>[], context: Context): Promise<readonly (ResultOf<this> | PredictionError)[]> {
    if (!this.initialized)
      throw new TabServeError(
        'not-initialized',
        'handle was called before initialize had finished. Await initialize first.',
      );
    if (context.kind === 'describe') return [(await this.describeHandle(context)) as ResultOf<this>];
    if (data.length === 0) throw new TabServeError('invalid-input', 'The batch is empty; it needs at least one row.');
    for (const params of new Set(context.params))
      if (Object.keys(params).length > 0) this.#checkParams(params, context);
    let results: readonly unknown[] = [];
    const end = await this.begin(context);
    try {
      const inputs = await this.preprocess(data, context);
      if (context.failures.size < data.length) results = await this.#runModel(inputs, data, context);
    } catch (error) {
      // An override that uses what `super` returns may throw because no row is left. The rows' own errors say why.
      if (context.failures.size < data.length) throw error;
    } finally {
      await end?.();
    }
    return withFailures(results as readonly ResultOf<this>[], data.length, context);
  }

  /**
   * Makes ready what the stages of a batch need beside its rows.
   * @returns what is called when they have ended, however they end
   */
  protected begin(_context: Context): MaybePromise<(() => MaybePromise<void>) | undefined> {
    return undefined;
  }

  async #runModel(inputs: Prepared, data: readonly Row<Input>[], context: Context): Promise<readonly unknown[]> {
    if (context.kind === 'explain') return await this.explainHandle(inputs, data, context);
    return await this.postprocess(await this.inference(inputs, context), context);
  }

  /** Handles a request for explanations. This implementation calls `getInsights`. */
  async explainHandle(inputs: Prepared, data: readonly Row<Input>[], context: Context): Promise<readonly unknown[]> {
    return await this.getInsights(inputs, data, context);
  }

  /**
   * Returns an explanation of the model's answer for each row.
   * @throws `unsupported` unless a subclass overrides this method
   */
  getInsights(_inputs: Prepared, _data: readonly Row<Input>[], _context: Context): MaybePromise<readonly unknown[]> {
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
