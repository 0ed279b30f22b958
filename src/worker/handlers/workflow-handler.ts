import type { Context, MaybePromise } from '../../contract/handler.js';
import type { PredictionError } from '../../contract/errors.js';
import { unwrap, type Row } from './row.js';
import { StagedHandler } from './staged-handler.js';

/**
 * A handler composed of handlers. It has no model of its own: `initialize` opens its nodes with `context.openHandler`,
 * and `inference` calls them in ordinary code. All nodes run in one worker, so tensors and pixels do not leave it.
 *
 * ```ts
 * class TextReader extends WorkflowHandler<ImageInput, string[]> {
 *   #detect!: NodeHandler<TextDetector>;
 *   #read!: NodeHandler<LineReader>;
 *
 *   override async initialize(context: Context) {
 *     await super.initialize(context);
 *     this.#detect = await context.openHandler('detect', TextDetector);
 *     this.#read = await context.openHandler('read', LineReader);
 *   }
 *
 *   override async inference(photos: readonly ImageInput[], context: Context) {
 *     const found = await this.#detect.handle(photos, context);
 *     return await Promise.all(found.map((lines) => (lines instanceof PredictionError ? lines : this.#readAll(lines, context))));
 *   }
 * }
 * ```
 */
export abstract class WorkflowHandler<Input = unknown, Result = unknown> extends StagedHandler<
  Input,
  readonly Input[],
  readonly (Result | PredictionError | undefined)[]
> {
  /** Reads the config. A subclass calls it first, and then opens its nodes. @throws `model-config` */
  override initialize(context: Context): Promise<void> {
    this.configure(context);
    this.initialized = true;
    return Promise.resolve();
  }

  /** Returns the rows as they are, without TorchServe's wrapper. */
  override preprocess(data: readonly Row<Input>[], _context: Context): MaybePromise<readonly Input[]> {
    return data.map(unwrap);
  }

  /**
   * Runs the nodes, and returns a result for each row. The `PredictionError` of a node, instead of a result, is that
   * row's failure; so is what `context.fail` was called with.
   */
  abstract override inference(
    rows: readonly Input[],
    context: Context,
  ): MaybePromise<readonly (Result | PredictionError | undefined)[]>;

  /** Returns the results of `inference`. */
  override postprocess(
    results: readonly (Result | PredictionError | undefined)[],
    _context: Context,
  ): MaybePromise<readonly Result[]> {
    return results as readonly Result[];
  }
}
