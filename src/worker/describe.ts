import type { Context, Handler, ModelInfo } from '../contract/handler.js';
import type { Session, TensorInfo } from '../contract/tensors.js';
import { TabServeError } from '../contract/errors.js';

/** What a handler may have beyond the contract; `BaseHandler` has all of it. */
interface Describable extends Handler {
  readonly model?: Session;
  readonly mapping?: unknown;
  describeHandle?(context: Context): Promise<unknown>;
}

/** What a handler knows of its model, and what it adds of its own. @throws `not-cloneable` */
export async function describeModel(handler: Handler, name: string, context: Context): Promise<ModelInfo> {
  const { model, mapping } = handler as Describable;
  const customizedMetadata = await (handler as Describable).describeHandle?.(context);
  try {
    structuredClone(customizedMetadata);
  } catch (cause) {
    throw new TabServeError(
      'not-cloneable',
      `What describeHandle returns cannot be sent to the page: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
  return {
    handler: name,
    inputs: model?.inputs,
    outputs: model?.outputs,
    rowsPerRun: model && rowsPerRun(model.inputs),
    labels: mapping,
    customizedMetadata,
  };
}

/** Inputs of one axis or none have no batch axis: they are one row. */
function rowsPerRun(inputs: readonly TensorInfo[]): number | 'any' {
  const sizes = inputs.map(({ dims }) =>
    dims.length < 2
      ? typeof dims[0] === 'number' || dims.length === 0
        ? 1
        : 'any'
      : typeof dims[0] === 'number'
        ? dims[0]
        : 'any',
  );
  return sizes.every((size) => size === sizes[0]) ? (sizes[0] ?? 'any') : 1;
}
