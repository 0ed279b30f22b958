/** A workflow's access to its nodes: a chunk of its own, since few handlers are workflows. */
import type { Archive } from '../contract/archive.js';
import { describeValue } from '../contract/describe-value.js';
import { asTabServeError, atNode, PredictionError, TabServeError } from '../contract/errors.js';
import type { NodeHandler, Params } from '../contract/handler.js';
import type { OpenPart } from './parts.js';
import { Recorder } from './recorder.js';
import { runOrRetry } from './run-batch.js';

/** The workflow that opens a node. */
interface Workflow {
  readonly archive: Archive;
  /** Records what the nodes record while they are opened. */
  readonly metrics: Recorder;
}

/**
 * Opens the handler of a node.
 * @param isLate whether the workflow's own handler is open already
 * @param open opens the handler of the node's archive
 */
export async function openNode(
  { archive: { nodes = {} }, metrics }: Workflow,
  name: string,
  isLate: boolean,
  open: (archive: Archive, recorder: Recorder) => Promise<OpenPart>,
): Promise<NodeHandler> {
  if (!Object.hasOwn(nodes, name)) {
    const names = Object.keys(nodes).join(', ');
    throw new TabServeError(
      'model-config',
      `The handler opens the node ${describeValue(name)}, which \`nodes\` in model-config.yaml does not name; ${names === '' ? 'there are no nodes: a workflow needs an archive whose config has them, or nodes in the option config' : `it names ${names}`}.`,
    );
  }
  if (isLate)
    throw new TabServeError(
      'handler-failed',
      `The node "${name}" is opened after initialize. Call context.openHandler in initialize: the backend is proven with all nodes.`,
    );
  const recorder = metrics.forNode(name);
  try {
    return nodeHandler(name, await open(nodes[name]!, recorder));
  } catch (error) {
    throw atNode(asTabServeError(error, 'initialize'), name);
  } finally {
    metrics.add(recorder);
  }
}

/** The part of an open node that runs its batches. */
export type NodeRunner = Pick<OpenPart, 'handler' | 'environment'>;

/** Returns a workflow's access to one of its nodes. */
export function nodeHandler(node: string, { handler, environment }: NodeRunner): NodeHandler {
  return {
    node,
    handler,
    async handle(rows, { metrics, signal, requestIds }, { params = {} } = {}) {
      if (rows.length === 0) return [];
      const workflow = metrics instanceof Recorder ? metrics : new Recorder();
      const recorder = workflow.forNode(node);
      const ids = requestIds.length === rows.length ? requestIds : rows.map((_, index) => String(index));
      const request = { request: 'predict', rows, ids, params: rows.map(() => params as Params) } as const;
      try {
        const results = await runOrRetry(request, { handler, environment, metrics: recorder, signal }, []);
        return results.map((result) =>
          result instanceof PredictionError ? (atNode(result, node) as PredictionError) : (result as never),
        );
      } catch (error) {
        throw atNode(error, node);
      } finally {
        workflow.add(recorder);
      }
    },
  };
}
