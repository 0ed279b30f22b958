import { asTabServeError, atNode, PredictionError, TabServeError } from '../../contract/errors.js';
import type { Context, InputKind, MaybePromise, NodeHandler } from '../../contract/handler.js';
import { withinLimit } from '../../shared/limit.js';
import type { ConfigSchema } from '../../shared/schema.js';
import { contextOf, NodeBatches, type NodeRow } from './node-batches.js';
import { withFailures } from './row.js';
import { WorkflowHandler } from './workflow-handler.js';
import { GRAPH_WORKFLOW_SCHEMA } from './schemas.js';

/**
 * A node that is code of the app: takes the rows of the node before it, and returns a list of the same length, with a
 * `PredictionError` for a row that fails. After several nodes, a row is an object with the result of each, by its name.
 */
export type NodeFunction = (rows: readonly never[], context: Context) => MaybePromise<readonly unknown[]>;

/** How a node is run. */
interface NodeSettings {
  /** @default all rows that are there */
  readonly batchSize?: number;
  /** Milliseconds. @default 0 */
  readonly maxBatchDelay?: number;
  /** @default 0 */
  readonly retryAttempts?: number;
  /** Milliseconds. @default no limit */
  readonly timeout?: number;
}

/** Batches of the workflow whose rows meet in its nodes. */
const BATCHES_AT_ONCE = 16;

type Results = readonly unknown[];

/** The keys of `handler:` that only the config sets. */
export interface GraphWorkflowConfig {
  /**
   * The nodes that follow each node, such as { detect: [classify] }.
   * @minProperties 1
   * @additionalProperties {"type":"array","items":{"type":"string","minLength":1}}
   */
  readonly dag?: Readonly<Record<string, readonly string[]>>;
  /**
   * For nodes by their names: batchSize, the maximum number of rows at once (default: all that are there); maxBatchDelay,
   * the milliseconds for which a row waits for rows of other requests (default 0); retryAttempts, how often a row that
   * has failed is tried again (default 0); timeout, in milliseconds (default: no limit).
   * @additionalProperties {"type":"object","properties":{"batchSize":{"type":"integer","minimum":1},"maxBatchDelay":{"type":"number","minimum":0,"maximum":2147483647},"retryAttempts":{"type":"integer","minimum":0,"maximum":100},"timeout":{"type":"number","exclusiveMinimum":0}},"additionalProperties":false}
   */
  readonly nodeSettings?: Readonly<
    Record<
      string,
      {
        readonly batchSize?: number;
        readonly maxBatchDelay?: number;
        readonly retryAttempts?: number;
        readonly timeout?: number;
      }
    >
  >;
}

/**
 * Runs nodes in the order that `dag` gives, as TorchServe's workflows do: each node's result is the input of the nodes
 * that follow it. Nodes that do not wait for one another run side by side. A node is an archive that `nodes` names, or
 * one of `functions` of a class that extends this one. It answers with the result of the last node; if there are
 * several last nodes, with an object that has the result of each, by its name.
 * @input what the first node takes
 * @answer what the last node answers with ([a sample](workflows.md#a-graph-in-yaml))
 */
export class GraphWorkflow extends WorkflowHandler {
  static override readonly takes: InputKind = 'tensors';
  declare readonly configType?: GraphWorkflowConfig;
  static override readonly schema: ConfigSchema = GRAPH_WORKFLOW_SCHEMA;

  /** The nodes that are code of the app, by their names. A subclass declares its own. */
  readonly functions: Readonly<Record<string, NodeFunction>> = {};

  /** How many batches its worker gets at once: set if a node waits for the rows of others. */
  batchesAtOnce?: number;

  readonly #handlers = new Map<string, NodeHandler>();
  readonly #batches = new Map<string, NodeBatches>();
  /** The nodes before each node. */
  readonly #before = new Map<string, string[]>();
  #last: readonly string[] = [];

  /**
   * Reads the graph, and opens the nodes that are archives.
   * @throws `model-config` for a node that is neither an archive nor a function, and for a circle; what opening a node
   *   throws
   */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    const dag = this.config['dag'] as Readonly<Record<string, readonly string[]>> | undefined;
    if (!dag) throw new TabServeError('model-config', 'handler.dag: a graph needs it, such as { detect: [classify] }.');
    for (const name of new Set([...Object.keys(dag), ...Object.values(dag).flat()])) this.#before.set(name, []);
    for (const [name, followers] of Object.entries(dag))
      for (const follower of new Set(followers)) this.#before.get(follower)!.push(name);
    this.#checkNames(context);
    this.#last = [...this.#before.keys()].filter((name) => (dag[name] ?? []).length === 0);
    this.#checkNoCircle();
    for (const name of this.#before.keys()) {
      const settings = this.#settingsOf(name);
      if (settings.maxBatchDelay) this.batchesAtOnce = BATCHES_AT_ONCE;
      this.#batches.set(name, new NodeBatches(settings, (rows) => this.#runBatch(name, rows)));
      if (!Object.hasOwn(this.functions, name)) this.#handlers.set(name, await context.openHandler(name));
    }
  }

  #checkNames({ modelYamlConfig: { nodes = {} } }: Context): void {
    for (const name of this.#before.keys())
      if (!Object.hasOwn(nodes, name) && !Object.hasOwn(this.functions, name))
        throw new TabServeError(
          'model-config',
          `handler.dag: "${name}" is no archive of \`nodes\`, and no function here. A function of a workflow's .py file does not run in a browser: write it in TypeScript, in \`functions\` of a class that extends GraphWorkflow.`,
        );
    for (const name of Object.keys((this.config['nodeSettings'] as object | undefined) ?? {}))
      if (!this.#before.has(name))
        throw new TabServeError('model-config', `handler.nodeSettings: handler.dag has no node "${name}".`);
  }

  /** Takes away nodes before which none is left, until nothing is left. @throws `model-config` */
  #checkNoCircle(): void {
    const left = new Map(this.#before);
    while (left.size > 0) {
      const free = [...left].filter(([, before]) => before.every((name) => !left.has(name)));
      if (free.length === 0) throw circle([...left.keys()][0]!);
      for (const [name] of free) left.delete(name);
    }
  }

  override async inference(rows: Results, context: Context): Promise<Results> {
    const results = new Map<string, Promise<Results>>();
    const resultsOf = (name: string): Promise<Results> => {
      const known = results.get(name);
      if (known) return known;
      const running = (async () => {
        const before = this.#before.get(name)!;
        const inputs = before.length === 0 ? rows : joined(before, await Promise.all(before.map(resultsOf)));
        return await this.#runNode(name, inputs, context);
      })();
      // The first failure is awaited below; the others must not stay unhandled.
      running.catch(() => {});
      results.set(name, running);
      return running;
    };
    return joined(this.#last, await Promise.all(this.#last.map(resultsOf)));
  }

  /** Runs one node on the rows that have not failed. */
  async #runNode(name: string, inputs: Results, context: Context): Promise<Results> {
    const results: unknown[] = [...inputs];
    let waiting = [...inputs.keys()].filter((index) => !(inputs[index] instanceof PredictionError));
    for (let attempt = 0; waiting.length > 0 && attempt <= (this.#settingsOf(name).retryAttempts ?? 0); attempt++) {
      const rows = waiting.map((index): NodeRow => ({ input: inputs[index], context, index }));
      const answers = await this.#batches.get(name)!.add(rows);
      context.signal.throwIfAborted();
      for (const [at, index] of waiting.entries()) results[index] = answers[at];
      waiting = waiting.filter((index) => results[index] instanceof PredictionError);
    }
    return results;
  }

  /** Runs a node on one batch. If it fails as a whole, it has an error in the place of each row, or a function runs again on each. */
  async #runBatch(name: string, rows: readonly NodeRow[]): Promise<Results> {
    const { timeout } = this.#settingsOf(name);
    const context = contextOf(rows);
    const stop = new AbortController();
    const own: Context = { ...context, signal: AbortSignal.any([context.signal, stop.signal]) };
    const run = async (): Promise<Results> => {
      const answers = await this.#call(
        name,
        rows.map(({ input }) => input),
        own,
      );
      return withFailures(answers, rows.length, own);
    };
    try {
      const limit = { milliseconds: timeout ?? 0, signal: context.signal };
      return await (timeout === undefined ? run() : withinLimit('It', run, limit));
    } catch (error) {
      const failure = PredictionError.from(atNode(asTabServeError(error), name));
      stop.abort(failure);
      // Handlers run the rows of such a batch one by one themselves.
      if (rows.length === 1 || this.#handlers.has(name) || failure.code === 'timeout' || context.signal.aborted)
        return rows.map(() => failure);
      const results: unknown[] = [];
      for (const row of rows) results.push(...(await this.#runBatch(name, [row])));
      return results;
    }
  }

  #settingsOf(name: string): NodeSettings {
    return (this.config['nodeSettings'] as Readonly<Record<string, NodeSettings>> | undefined)?.[name] ?? {};
  }

  #call(name: string, rows: Results, context: Context): MaybePromise<Results> {
    const handler = this.#handlers.get(name);
    return handler ? handler.handle(rows as never, context) : this.functions[name]!(rows as readonly never[], context);
  }
}

/**
 * Returns the rows after several nodes: of one node, its own; of several, an object with the row of each. A row that
 * has failed in one of them has failed.
 */
function joined(names: readonly string[], results: readonly Results[]): Results {
  if (results.length === 1) return results[0]!;
  return results[0]!.map((_, index) => {
    const failure = results.find((rows) => rows[index] instanceof PredictionError);
    return failure ? failure[index] : Object.fromEntries(names.map((name, at) => [name, results[at]![index]]));
  });
}

function circle(name: string): TabServeError {
  return new TabServeError('model-config', `handler.dag: "${name}" waits for itself. A graph has no circle.`);
}
