import { loadScript } from '../../shared/load-script.js';
import type { Archive } from '../../contract/archive.js';
import { allParts, hasModel, precisionOf } from '../../contract/archive-parts.js';
import { candidateOf, formatOfEngine, type CandidateName, type EngineName } from '../../contract/backends.js';
import { asTabServeError, atNode, TabServeError } from '../../contract/errors.js';
import type { Context, Handler, HandlerClass, NodeHandler } from '../../contract/handler.js';
import type { OpenOptions, Session } from '../../contract/tensors.js';
import type { Engine } from '../engines/engine.js';
import { openFiles } from '../models/model-files.js';
import { checkConfig } from '../models/config.js';
import { batchContext, type HandlerEnvironment } from './context.js';
import { instrument, type Recorder } from './recorder.js';
import { StateBudget } from './state-budget.js';

/** An archive whose handler is open: the one that the page has named, or a node's. */
export interface OpenHandler {
  /** The node's path; `''` for the archive that the page has named. */
  readonly node: string;
  readonly archive: Archive;
  readonly handler: Handler;
  readonly environment: HandlerEnvironment;
}

export interface OpenHandlersOptions {
  readonly engine: Engine;
  /** The engine, and the backend that it computes on. */
  readonly candidate: CandidateName;
  /** Returns the class for a node that its workflow opens without one. @throws `unknown-handler` */
  readonly handlerOf: (archive: Archive) => Promise<HandlerClass>;
  readonly warn: (message: string) => void;
  /** Called when a stage has ended, with its context. */
  readonly onStage?: (context: Context | undefined) => void;
}

/** Opens the handler of an archive, and those of its nodes when they are asked for. All of them run on one engine. */
export class OpenHandlers {
  /** In the order in which they were opened; nodes before their workflow. */
  readonly open: OpenHandler[] = [];
  readonly #options: OpenHandlersOptions;
  /** Nodes that share an archive share its sessions, if they read the same of the outputs. */
  readonly #sessions = new Map<Archive, Context['open']>();
  /** The values that the handlers cache between requests, as many as the config of the page's archive allows. */
  #state!: StateBudget;
  #isComplete = false;

  constructor(options: OpenHandlersOptions) {
    this.#options = options;
  }

  /**
   * Opens the archive that the page has named. Afterwards, no node can be opened.
   * @param context of the whole: its metrics receive what the handlers record
   */
  async start(archive: Archive, Class: HandlerClass, metrics: Recorder): Promise<OpenHandler> {
    this.#state = StateBudget.of(archive.config);
    const opened = await this.#open('', archive, Class, metrics);
    this.#isComplete = true;
    if (archive.nodes) {
      const { warnOfUnopened } = await loadScript(() => import('./nodes.js'));
      warnOfUnopened(archive.nodes, this.open, this.#options.warn);
    }
    return opened;
  }

  async #open(node: string, archive: Archive, Class: HandlerClass, metrics: Recorder): Promise<OpenHandler> {
    const { warn, onStage, handlerOf } = this.#options;
    const files = await openFiles(archive);
    const handlers = new Map<string, Promise<NodeHandler>>();
    const handler = new Class();
    const openModel = this.#sessionsOf(archive, files);
    const reads = new Map<string | undefined, OpenOptions | undefined>();
    const openNamed: Context['open'] = async (name, options) => {
      if (name === undefined || !archive.nodes || !Object.hasOwn(archive.nodes, name))
        return await openModel(name, options);
      const modelHandler = await loadScript(async () => (await import('./nodes.js')).modelHandler);
      return (await environment.openHandler(name, modelHandler(handler, name, options))).handler.model;
    };
    const environment: HandlerEnvironment = {
      modelDir: archive.url,
      backend: this.#options.candidate,
      manifest: archive.manifest,
      config: archive.config,
      files,
      kept: this.#state.values(),
      open: async (name, options) => {
        // What runs a handler's model for a proof opens it again, and says nothing of what is read.
        if (!reads.has(name)) reads.set(name, options);
        const session = await openNamed(name, reads.get(name));
        environment.quantizesAtRunTime ||= session.quantizesAtRunTime;
        return session;
      },
      openHandler: (name, NodeClass) => {
        const opening =
          handlers.get(name) ??
          loadScript(async () => (await import('./nodes.js')).openNode).then((openNode) =>
            openNode({ archive, metrics }, name, this.#isComplete, async (own, recorder) => {
              const Opened = NodeClass ?? (await handlerOf(own));
              return await this.#open(node === '' ? name : `${node}/${name}`, own, Opened, recorder);
            }),
          );
        handlers.set(name, opening);
        return opening as Promise<NodeHandler<never>>;
      },
      warn: (message) => warn(named(message, node)),
      onHeartbeat: onStage,
    };
    instrument(handler, onStage);
    await handler.initialize(batchContext(environment, { metrics }));
    const opened = { node, archive, handler, environment };
    this.open.push(opened);
    return opened;
  }

  /** Returns a function that opens an archive's models: each of them once, and once more for the last token alone. */
  #sessionsOf(archive: Archive, files: Awaited<ReturnType<typeof openFiles>>): Context['open'] {
    const known = this.#sessions.get(archive);
    if (known) return known;
    const { engine, candidate } = this.#options;
    const { engine: format } = candidateOf(candidate);
    const sessions = new Map<string, Promise<Session>>();
    const open = async (path = modelOf(archive, format), options: OpenOptions = {}): Promise<Session> => {
      if (path === undefined)
        throw new TabServeError(
          'model-not-found',
          `${archive.url} has no model of its own: its nodes have. The handler of such a workflow extends WorkflowHandler, and opens them with context.openHandler.`,
        );
      // A golden example has the outputs of all tokens.
      const reads = archive.golden.length > 0 ? { keeps: options.keeps } : options;
      const key = reads.lastTokenOf === undefined ? path : `${path}\n${reads.lastTokenOf}`;
      const session =
        sessions.get(key) ??
        sessions.get(path) ??
        engine
          .open(files, path, archive.config.engine ?? {}, reads)
          .catch((error: unknown) => Promise.reject(notRead(error, archive, format)));
      sessions.set(key, session);
      session.catch(() => sessions.delete(key));
      return await session;
    };
    this.#sessions.set(archive, open);
    return open;
  }
}

/** Adds to an error which precision of a model's file the engine cannot read, because another one may work. */
function notRead(error: unknown, archive: Archive, engine: EngineName): TabServeError {
  const own = asTabServeError(error);
  if (own.code !== 'model-format') return own;
  const { code, message, cause } = own;
  return new TabServeError(code, message, { cause, precision: precisionOf(archive, engine) });
}

/** Returns the path of an archive's model, or its name on a server; undefined if the archive has none. */
function modelOf(archive: Archive, engine: EngineName): string | undefined {
  const format = formatOfEngine(engine);
  if (format !== undefined) return archive.models[format];
  return hasModel(archive) ? (archive.config.engine?.remote?.model ?? archive.manifest.model.modelName) : undefined;
}

/**
 * Checks the configs of an archive and of its nodes, except the handlers' sections.
 * @throws `model-config` naming the key and the node
 */
export async function checkConfigs(archive: Archive, warn: (message: string) => void): Promise<void> {
  for (const { node, archive: one } of allParts(archive)) {
    try {
      checkConfig(one.config, (message) => warn(named(message, node)));
      for (const warning of [one.contradiction, one.uncompared]) if (warning !== undefined) warn(named(warning, node));
      if (!hasModel(one)) {
        const { checkNoRemoteModel } = await loadScript(() => import('./nodes.js'));
        checkNoRemoteModel(one);
      }
    } catch (error) {
      throw node === '' ? error : atNode(error, node);
    }
  }
}

function named(message: string, node: string): string {
  return node === '' ? message : `Node "${node}": ${message}`;
}
