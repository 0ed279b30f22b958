import type { Context, MaybePromise } from '../../contract/handler.js';
import type { Tensors } from '../../contract/tensors.js';
import type { PredictionError } from '../../contract/errors.js';
import type { Row } from './row.js';
import { zeros } from './run-model.js';
import { StagedHandler } from './staged-handler.js';

/**
 * TorchServe's entry point as a function: takes a list of rows, and returns a list of the same length. It runs the
 * archive's model by `(await context.open()).run(tensors)`.
 */
export type HandleFunction<Input, Result> = (
  data: readonly Row<Input>[],
  context: Context,
) => MaybePromise<readonly (Result | PredictionError)[]>;

/** A handler whose only stage is a function. */
export abstract class FunctionHandler<Input, Result> extends StagedHandler<
  Input,
  readonly Row<Input>[],
  readonly (Result | PredictionError)[]
> {
  /** Opens the archive's model, so that a backend that cannot run it is found now. @throws what `Context.open` throws */
  override async initialize(context: Context): Promise<void> {
    this.configure(context);
    await context.open();
    this.initialized = true;
  }

  /** Returns zeros for the model's inputs; undefined if their dims are unknown. */
  async example(context: Context): Promise<Tensors | undefined> {
    return zeros((await context.open()).inputs);
  }

  /** Says that `example` returns what the model takes: the function takes rows. */
  readonly exampleIsForModel = true;

  override preprocess(data: readonly Row<Input>[]): readonly Row<Input>[] {
    return data;
  }

  override postprocess(results: readonly (Result | PredictionError)[]): readonly Result[] {
    return results as readonly Result[];
  }
}

/**
 * Makes a handler class of a function, as a TorchServe archive may bring one instead of a class:
 * `expose(functionHandler(handle))`. The class has the function's name, which `describe` reports.
 */
export function functionHandler<Input, Result>(
  handle: HandleFunction<Input, Result>,
): new () => FunctionHandler<Input, Result> {
  const Class = class extends FunctionHandler<Input, Result> {
    override async inference(
      data: readonly Row<Input>[],
      context: Context,
    ): Promise<readonly (Result | PredictionError)[]> {
      return await handle(data, context);
    }
  };
  Object.defineProperty(Class, 'name', { value: handle.name });
  return Class;
}
