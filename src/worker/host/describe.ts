import type { Context, Handler, Medium, ModelInfo } from '../../contract/handler.js';
import type { Session, TensorInfo } from '../../contract/tensors.js';
import { atNode, messageOf, TabServeError } from '../../contract/errors.js';
import { kindsOf, resultFormsOf } from '../handlers/descriptor.js';
import { batchContext } from './context.js';
import type { OpenHandler } from './open-handlers.js';

/** Members that a handler may have beyond the contract. `BaseHandler` has all of them. */
interface Describable extends Handler {
  readonly model?: Session;
  readonly mapping?: unknown;
  readonly contextLength?: number;
  readonly media?: readonly Medium[];
  describeHandle?(context: Context): Promise<unknown>;
}

/**
 * Describes the open handlers: the last one, and those of a workflow's nodes.
 * @param name of the last one
 * @throws `not-cloneable`, and what a `describeHandle` throws
 */
export async function describe(handlers: readonly OpenHandler[], name: string): Promise<ModelInfo> {
  const { handler, environment } = handlers.at(-1)!;
  const context = batchContext(environment, { kind: 'describe' });
  return { ...(await describeModel(handler, name, context)), ...(await describeNodes(handlers)) };
}

/** Describes a handler's model, with what its `describeHandle` returns. @throws `not-cloneable` */
async function describeModel(handler: Handler, name: string, context: Context): Promise<ModelInfo> {
  const { model, mapping, contextLength, media } = handler as Describable;
  const customizedMetadata = await (handler as Describable).describeHandle?.(context);
  try {
    structuredClone(customizedMetadata);
  } catch (cause) {
    throw new TabServeError(
      'not-cloneable',
      `The return value of describeHandle cannot be sent to the page: ${messageOf(cause)}`,
      { cause },
    );
  }
  return {
    handler: name,
    ...kindsOf(handler),
    ...(media && { media }),
    resultForms: resultFormsOf(handler),
    inputs: model?.inputs,
    outputs: model?.outputs.map(({ name, dtype, dims }) => ({ name, dtype, dims })),
    rowsPerRun: model && rowsPerRun(model.inputs),
    ...(Number.isFinite(contextLength) && { contextLength: contextLength! }),
    labels: mapping,
    customizedMetadata,
  };
}

/**
 * Describes the handlers of a workflow's nodes.
 * @throws `not-cloneable`, and what a `describeHandle` throws, naming the node
 */
async function describeNodes(handlers: readonly OpenHandler[]): Promise<Pick<ModelInfo, 'nodes'>> {
  const nodes: Record<string, ModelInfo> = {};
  for (const { node, archive, handler, environment } of handlers) {
    if (node === '') continue;
    const name = archive.manifest.model.handler ?? handler.constructor.name;
    try {
      nodes[node] = await describeModel(handler, name, batchContext(environment, { kind: 'describe' }));
    } catch (error) {
      throw atNode(error, node);
    }
  }
  return Object.keys(nodes).length > 0 ? { nodes } : {};
}

/**
 * Returns the number of rows that a model runs at once. An input with no axis, or with one fixed axis, has no batch
 * axis: it is one row.
 */
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
