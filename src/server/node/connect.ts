import { setMaxListeners } from 'node:events';
import { availableParallelism } from 'node:os';
import type { Handler } from '../../contract/handler.js';
import type { FormName, ResultFor } from '../../contract/handler-types.js';
import type { HandlerName, HandlerOf } from '../../worker/handlers/registry.js';
import { Client } from '../../page/client/client.js';
import { loadWith } from '../../page/client/connect-worker.js';
import { readClientOptions, type ClientOptions, type OpenerOptions } from '../../page/options/client-options.js';
import type { InitializeOptions, RequestOptions } from '../../page/requests/request-options.js';
import type { Verdict, VerdictStore } from '../../page/selection/verdicts.js';
import { CoreBudget } from '../../page/workers/budget.js';
import { modelUrl } from './model-url.js';
import { ThreadWorker } from './thread-worker.js';

/** What `connect` takes under Node: what it takes on a page, except what only a browser has. */
export interface NodeOptions<H extends Handler = Handler, Form = never> extends Omit<
  ClientOptions<H, Form>,
  'model' | 'assets' | 'cache'
> {
  /**
   * Path or URL of a model archive (a folder, or a packed one: `.mar`, `.zip`, `.tar.gz`) or of a bare model. A path is
   * relative to the working directory.
   */
  readonly model: string | URL;
}

/** What `connect` takes for the built-in handlers under Node. */
export interface NodeConnectOptions<Name extends HandlerName, Form = never> extends NodeOptions<HandlerOf<Name>, Form> {
  /** A built-in handler. @default the one that the archive's manifest names */
  readonly handler?: Name;
}

/** What `load` takes under Node in addition to the model. */
export interface NodeLoadOptions<Name extends HandlerName, Form = never>
  extends Omit<NodeConnectOptions<Name, Form>, 'model'>, InitializeOptions {}

/** Makes a fresh worker thread at each call. */
export type ThreadFactory = () => ThreadWorker;

/**
 * Makes a client whose workers are worker threads. Nothing is started or read before `initialize`, and `dispose` ends
 * it at any time: until then, its workers keep the process alive.
 *
 * ```ts
 * const digits = connect({ model: './models/digits/' });
 * await digits.initialize();
 * ```
 */
export function connect<Name extends HandlerName = HandlerName, Form extends FormName<HandlerOf<Name>> = never>(
  options: NodeConnectOptions<Name, Form>,
): Client<HandlerOf<Name>, ResultFor<HandlerOf<Name>, Form>>;
/**
 * Makes a client for a handler class of the app's own, which its worker's module serves with `expose(MyHandler)` of
 * `tabserve/worker`.
 *
 * ```ts
 * const birds = connect<BirdClassifier>(() => new ThreadWorker(new URL('./birds.worker.js', import.meta.url)), {
 *   model: './models/birds/',
 * });
 * await birds.initialize();
 * ```
 */
export function connect<H extends Handler, Form extends FormName<H> = never>(
  factory: ThreadFactory,
  options: NodeOptions<H, Form>,
): Client<H, ResultFor<H, Form>>;
export function connect(first: unknown, second?: unknown): unknown {
  if (typeof first === 'function') return clientOf(first as ThreadFactory, second as NodeOptions);
  return clientOf(() => new ThreadWorker(BUILT_IN), first as NodeOptions);
}

/**
 * Loads a model under Node: `connect` and `initialize` with the built-in handlers.
 * @param model path or URL: see `NodeOptions`
 * @throws what `initialize` throws, after everything that was started has ended; `no-backend` if onnxruntime-node is
 *   not installed, saying how to install it
 */
export async function load<Name extends HandlerName = HandlerName, Form extends FormName<HandlerOf<Name>> = never>(
  model: string | URL,
  options: NodeLoadOptions<Name, Form> = {},
): Promise<Client<HandlerOf<Name>, ResultFor<HandlerOf<Name>, Form>>> {
  return await loadWith((rest) => connect({ ...rest, model } as unknown as NodeConnectOptions<Name, Form>), options);
}

/** A client under Node, of whatever handler. */
export type NodeModelClient = Client;

/**
 * Loads a model with the handler that a worker's module serves, or with the built-in ones.
 * @param script the worker's module; undefined for the built-in handlers
 * @param onClient is called with the client before it is initialized
 * @throws what `load` throws
 */
export async function loadObserved(
  model: string,
  options: NodeLoadOptions<never>,
  { script, onClient }: { readonly script: URL | undefined; readonly onClient: (client: Client) => void },
): Promise<Client> {
  return await loadWith((rest) => {
    const client = clientOf(() => new ThreadWorker(script ?? BUILT_IN), { ...rest, model });
    onClient(client);
    return client;
  }, options);
}

const BUILT_IN = new URL('./default.worker.js', import.meta.url);

/** The cores that all clients of this process share. */
const cores = new CoreBudget(availableParallelism());

function clientOf(factory: ThreadFactory, options: NodeOptions): Client {
  const read = readClientOptions(options);
  // Node has neither the Cache API nor IndexedDB. JavaScript may still pass options that only a page needs: they are
  // ignored.
  const all: unknown = { verdicts, ...read, cache: 'none', assets: undefined, model: modelUrl(read.model) };
  const disposed = new AbortController();
  setMaxListeners(0, disposed.signal);
  return new NodeClient(factory as unknown as () => Worker, all as OpenerOptions, { cores, disposed });
}

/**
 * Concurrent requests of a client may share a signal. Each listens to it, and Node warns of a leak when a signal has
 * more than ten listeners. It would also warn of ten sequences, which listen to the end of the client.
 */
class NodeClient extends Client {
  override async predict(input: never, options?: RequestOptions): Promise<never> {
    return (await super.predict(input, unlimited(options))) as never;
  }

  override async handle(inputs: never, options?: RequestOptions): Promise<never> {
    return (await super.handle(inputs, unlimited(options))) as never;
  }

  override async infer(inputs: never, options?: RequestOptions): Promise<never> {
    return (await super.infer(inputs, unlimited(options))) as never;
  }

  override async explain(input: never, options?: Parameters<Client['explain']>[1]): Promise<never> {
    return (await super.explain(input, unlimited(options))) as never;
  }
}

/**
 * Returns options, whose signal may now have any number of listeners. They may be of any type: the client checks them.
 */
function unlimited<Options extends object>(options: Options | undefined): Options | undefined {
  const signal: unknown = Object.getOwnPropertyDescriptor(options ?? {}, 'signal')?.value;
  if (signal instanceof AbortSignal) setMaxListeners(0, signal);
  return options;
}

const found = new Map<string, Verdict>();

/** Stores verdicts for as long as the process lives. */
const verdicts: VerdictStore = {
  get: async (key) => found.get(key),
  set: async (key, verdict) => void found.set(key, verdict),
  clear: async () => found.clear(),
};
