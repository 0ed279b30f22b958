import type { Manifest, ModelConfig } from '../../contract/archive.js';
import type { Context, Handler, MaybePromise, NodeHandler, Params } from '../../contract/handler.js';
import type { HttpAnswer, HttpRequestData } from '../../contract/http.js';
import type { Session, TensorInfo } from '../../contract/tensors.js';
import { describeValue } from '../../contract/describe-value.js';
import { atNode, TabServeError } from '../../contract/errors.js';
import { BaseHandler } from '../handlers/base-handler.js';
import { withFailures } from '../handlers/row.js';
import { createFiles } from '../models/files.js';
import { batchContext, type BatchContext, type HandlerEnvironment } from './context.js';
import { withAnswer } from './http-rows.js';
import { nodeHandler, type NodeRunner } from './nodes.js';
import { instrument } from './recorder.js';
import { StateBudget } from './state-budget.js';
import { standIn, type TestModel, type TestOutputs } from './test-session.js';

/** Replaces a model archive and a page in a test of a handler. */
export interface TestContextOptions {
  /** The model's session, or sessions by their path in the archive or by their node's name; a stub is enough. */
  readonly session?: Session | Readonly<Record<string, Session>>;
  /** Stand-ins for the handlers of a workflow's nodes, by the node's name. */
  readonly nodes?: Readonly<Record<string, TestNode>>;
  /** The archive's files by path. */
  readonly files?: Readonly<Record<string, Blob | Uint8Array | string>>;
  /** `model-config.yaml`, parsed. */
  readonly config?: ModelConfig;
  /** The archive's manifest. */
  readonly manifest?: Manifest;
  /** Rows of the batch that the context is for. @default 1 */
  readonly batchSize?: number;
  /** The parameters of every row's request. */
  readonly params?: Params;
  /** What `systemProperties.backend` is. @default 'onnx/cpu' */
  readonly backend?: Context['systemProperties']['backend'];
  /** What is asked of the handler. @default 'predict' */
  readonly kind?: Context['kind'];
  /** The request over HTTP that brings every row. @default none: the rows are the page's */
  readonly http?: Partial<HttpRequestData>;
  /** What the handler has cached: the `kept` of an earlier context. @default nothing */
  readonly kept?: Context['kept'];
  /** Aborts the batch. */
  readonly signal?: AbortSignal;
  /**
   * The id of each row's sequence, undefined for a row of none. What the handler sets as a state is in the context's
   * `newStates`.
   */
  readonly sequenceIds?: readonly (string | undefined)[];
  /** The state of each row's sequence; undefined at its start. */
  readonly states?: readonly unknown[];
  /** What came with the last part of the row's answer that the page has, from a worker that was lost. */
  readonly resumed?: unknown;
}

/** Answers a node's rows instead of its handler: one result per row. */
export type TestAnswers = (rows: readonly never[], context: Context) => MaybePromise<readonly unknown[]>;

/** A stand-in for a model, in addition to its archive. */
export interface TestModelOptions {
  /**
   * The model's outputs by name, with a batch axis: nested lists (`[[1, 3]]` is float32 `[1, 2]`) or tensors. One row
   * is the output for every input; several rows are the outputs for one input each. A function computes the outputs
   * from the feeds. It is first called twice with zeros, to find out the outputs' names and dims.
   */
  readonly outputs: TestOutputs | TestModel;
  /** Labels by class index: a list, or one of the forms of TorchServe's `index_to_name.json`. */
  readonly labels?: readonly string[] | Readonly<Record<string, unknown>>;
  /**
   * The model's inputs. Feeds are checked against them, as an engine checks them.
   * @default images of any size for a `VisionHandler`; `input_ids` and `attention_mask` for a `TextHandler`; else one
   *   float32 input `[batch, any]`
   */
  readonly inputs?: readonly TensorInfo[];
}

/**
 * A stand-in for a workflow's node in a test: answers instead of its handler's, or its archive with a stand-in for its
 * model, which the handler runs.
 */
export type TestNode =
  | { readonly answers: TestAnswers }
  | (TestModelOptions & Pick<TestContextOptions, 'files' | 'config' | 'manifest' | 'nodes'>);

/** A part of an answer, as a handler sent it with `context.send`. */
export interface SentPart {
  /** The row's index. */
  readonly index: number;
  readonly part: unknown;
  /** What another worker needs to continue after it: an option `resumed` of the next test context. */
  readonly resume: unknown;
}

/** A context for a test: it collects what a page would get. */
export interface TestContext extends BatchContext {
  /** The parts that the handler has sent, in order. There is always room for them. */
  readonly parts: readonly SentPart[];
  /** What the handler has said of the answer over HTTP to each row; empty if it has said nothing. */
  readonly answers: readonly (HttpAnswer | undefined)[];
}

/**
 * Creates a context for one batch, with which a handler runs anywhere: in a unit test under Node, with no worker and no
 * browser.
 *
 * ```ts
 * const context = createTestContext({ session, files: { 'index_to_name.json': '{"0":"cat"}' } });
 * await handler.initialize(context);
 * const [result] = await handler.handle([input], context);
 * context.metrics.observations; // the handler's observations, in order
 * ```
 */
export function createTestContext(options: TestContextOptions = {}): TestContext {
  const { batchSize = 1, params, http, ...batch } = options;
  const request = http && { headers: {}, path: '', query: '', ...http };
  const answers: (HttpAnswer | undefined)[] = [];
  const rows = params && Array.from({ length: batchSize }, () => params);
  const parts: SentPart[] = [];
  const send: Context['send'] = async (index, part, resume) =>
    void parts.push({ index, ...structuredClone({ part, resume }) });
  const own = {
    ...batch,
    batchSize,
    params: rows,
    send,
    http: request && Array.from({ length: batchSize }, () => request),
    onAnswer: (index: number, answer: HttpAnswer) => void (answers[index] = withAnswer(answers[index], answer)),
  };
  return { ...batchContext(testEnvironment(options), own), parts, answers };
}

function testEnvironment({
  session,
  nodes,
  files = {},
  config = {},
  manifest = { model: { modelName: 'model' } },
  kept = StateBudget.of(config).values(),
  backend = 'onnx/cpu',
}: TestContextOptions): HandlerEnvironment {
  const openHandler = testNodes(nodes);
  const open = async (path?: string): Promise<Session> => {
    if (path === undefined && isSession(session)) return await Promise.resolve(session);
    if (path !== undefined && nodes && Object.hasOwn(nodes, path) && !('answers' in nodes[path]!))
      return (await openHandler(path, BaseHandler)).handler.model;
    const name = path ?? manifest.model.serializedFile ?? '';
    const known = typeof name === 'string' && typeof session === 'object' && session !== null;
    const found: unknown = known && Object.hasOwn(session, name) && (session as Record<string, unknown>)[name];
    if (isSession(found)) return found;
    throw new TabServeError(
      'model-not-found',
      `createTestContext was given no session${path === undefined ? '' : ` ${describeValue(path)}`}.`,
    );
  };
  const warn = (message: string): void => console.warn(message);
  return { modelDir: '', backend, manifest, config, files: createFiles(files), kept, open, openHandler, warn };
}

/** Returns a function that opens the stand-ins for a workflow's nodes, each of them once. */
function testNodes(nodes: Readonly<Record<string, TestNode>> = {}): Context['openHandler'] {
  const opened = new Map<string, Promise<NodeHandler>>();
  return (name, handlerClass) => {
    const opening = opened.get(name) ?? openTestNode(nodes, name, handlerClass);
    opened.set(name, opening);
    return opening as Promise<never>;
  };
}

async function openTestNode(
  nodes: Readonly<Record<string, TestNode>>,
  name: string,
  handlerClass: (new () => Handler) | undefined,
): Promise<NodeHandler> {
  if (!Object.hasOwn(nodes, name))
    throw new TabServeError(
      'model-config',
      `The test has no node ${describeValue(name)}; it has ${Object.keys(nodes).join(', ') || 'none'}. Give a stand-in for it in \`nodes\`.`,
    );
  try {
    return nodeHandler(name, await runnerOf(nodes[name]!, handlerClass));
  } catch (error) {
    throw atNode(error, name);
  }
}

async function runnerOf(node: TestNode, handlerClass: (new () => Handler) | undefined): Promise<NodeRunner> {
  if ('answers' in node) return { handler: answering(node.answers), environment: testEnvironment({}) };
  if (!handlerClass)
    throw new TabServeError(
      'unknown-handler',
      'In a test, a node needs the class of its handler: pass it to context.openHandler, or give the node `answers`.',
    );
  const handler = new handlerClass();
  instrument(handler);
  const environment = testEnvironment({ ...node, ...(await standIn(handler, node)) });
  await handler.initialize(batchContext(environment, {}));
  return { handler, environment };
}

/** Returns a handler that answers what a test has chosen. */
function answering(answers: TestAnswers): Handler {
  const same = (rows: unknown): unknown => rows;
  return {
    initialize: () => Promise.resolve(),
    preprocess: same,
    inference: same,
    postprocess: same,
    handle: async (rows, context) => withFailures(await answers(rows, context), rows.length, context),
  };
}

function isSession(value: unknown): value is Session {
  return typeof (value as Partial<Session> | null | undefined)?.run === 'function';
}
