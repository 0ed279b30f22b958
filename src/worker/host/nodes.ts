/** What only workflows need. It is a script of its own, because few handlers are workflows. */
import type { Archive } from '../../contract/archive.js';
import { describeValue } from '../../contract/describe-value.js';
import { asTabServeError, atNode, PredictionError, TabServeError } from '../../contract/errors.js';
import type { Context, Handler, NodeHandler, Params } from '../../contract/handler.js';
import type { OpenOptions } from '../../contract/tensors.js';
import { BaseHandler } from '../handlers/base-handler.js';
import { uncomparedClass } from '../models/hugging-face/uncompared.js';
import type { OpenHandler } from './open-handlers.js';
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
  open: (archive: Archive, recorder: Recorder) => Promise<OpenHandler>,
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
  } catch (cause) {
    const error = asTabServeError(cause, 'initialize');
    const isUnknown = error.code === 'unknown-handler';
    throw atNode((isUnknown && uncomparedClass(nodes[name]!, `nodes.${name}.handler`)) || error, name);
  } finally {
    metrics.add(recorder);
  }
}

/**
 * Returns the class for a node whose model alone is wanted, so that it is proven and described as any node is.
 * @param owner the handler that opens it: it knows inputs to run the model on
 */
export function modelHandler(owner: Handler, node: string, options?: OpenOptions): new () => BaseHandler {
  return class NodeModel extends BaseHandler {
    readonly exampleIsForModel = true;

    override async initialize(context: Context): Promise<void> {
      await super.initialize({ ...context, open: (name) => context.open(name, options) });
    }

    override example(context: Context): ReturnType<BaseHandler['example']> {
      return owner.example?.(context, node);
    }
  };
}

/** @throws `model-config` if the archive, which has no model, says which one of a server it is: it would be ignored */
export function checkNoRemoteModel({ config }: Archive): void {
  const [key] = Object.keys(config.engine?.remote ?? {});
  if (key !== undefined)
    throw new TabServeError(
      'model-config',
      `engine.remote.${key}: a workflow is no model of a server; each of its nodes is one. Set it in nodes.NAME.config.engine.remote.`,
    );
}

/** Warns of nodes that the workflow's handler has not opened. */
export function warnOfUnopened(
  nodes: Readonly<Record<string, Archive>>,
  opened: readonly OpenHandler[],
  warn: (message: string) => void,
): void {
  const unopened = Object.keys(nodes).filter((name) => !opened.some(({ node }) => node === name));
  if (unopened.length === 0) return;
  warn(`nodes names ${unopened.join(', ')}, which the handler has not opened: they were downloaded in vain.`);
}

/** The part of an open node that runs its batches. */
export type NodeRunner = Pick<OpenHandler, 'handler' | 'environment'>;

/** Returns a workflow's access to one of its nodes. */
export function nodeHandler(node: string, { handler, environment }: NodeRunner): NodeHandler {
  return {
    node,
    handler,
    async handle(rows, { metrics, signal, requestIds }, { params = {}, onProgress } = {}) {
      if (rows.length === 0) return [];
      const workflow = metrics instanceof Recorder ? metrics : new Recorder();
      const recorder = workflow.forNode(node);
      const ids = requestIds.length === rows.length ? requestIds : rows.map((_, index) => String(index));
      const request = { request: 'predict', rows, ids, params: rows.map(() => params as Params) } as const;
      try {
        const results = await runOrRetry(request, { handler, environment, metrics: recorder, signal, onProgress }, []);
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
