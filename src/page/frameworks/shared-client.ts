import type { Progress } from '../../contract/archive.js';
import { asTabServeError, TabServeError } from '../../contract/errors.js';
import type { Client } from '../client/client.js';
import { connect } from '../client/connect.js';
import type { RequestOptions } from '../requests/request-options.js';
import { readOnce } from '../streams/answer-stream.js';
import type { FrameAnswer } from '../streams/frame-reader.js';
import type { FrameSource, FramesOptions } from '../streams/frame-source.js';
import type { ClientOptions } from '../options/client-options.js';
import { readRequestOptions } from '../requests/request-options.js';
import { unlessAborted } from '../../shared/abort.js';
import { isPlainObject } from '../../shared/is-plain-object.js';
import { failedState, IDLE, LOADING, loadingState, readyState, type ModelState } from './model-state.js';
import type { WorkerFactory } from '../workers/worker-factory.js';

/** Milliseconds between two reports of progress: a cached model has thousands of them in a second. */
const PROGRESS_INTERVAL = 50;

/**
 * Milliseconds for which a model stays loaded that no component has used: React shows a component some time after its
 * model is ready.
 */
const MAX_UNUSED_MS = 10_000;

/**
 * The client of all mounted components with the same options: the store that React subscribes to. It makes a client
 * when the first one needs it. When the last one is unmounted, it disposes of the client; not at once, since StrictMode
 * and fast refresh unmount a component and mount it again in the same task.
 */
export class SharedClient {
  readonly source: Source;
  readonly #listeners = new Set<() => void>();
  #state: ModelState = IDLE;
  #client: Client | undefined;
  #loading: Promise<void> | undefined;
  /** Whether it was disposed of, and no component has asked for it since. */
  #isClosed = false;
  #closing: ReturnType<typeof setTimeout> | undefined;
  /** The progress that is not reported yet. */
  #progress: Progress | undefined;

  constructor(source: Source) {
    this.source = source;
  }

  readonly getState = (): ModelState => this.#state;

  /**
   * Adds the listener of a component that is mounted. Returns a function that removes it when the component is
   * unmounted.
   */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    this.#isClosed = false;
    clearTimeout(this.#closing);
    return () => {
      this.#listeners.delete(listener);
      this.#closeIfUnused(0);
    };
  };

  /** Whether only components have asked for it that are not mounted: React has forgotten what they held. */
  get isSuspended(): boolean {
    return this.#client !== undefined && this.#listeners.size === 0;
  }

  /** Takes calls again after it was disposed of: for a component that renders. */
  reopen(): void {
    this.#isClosed = false;
  }

  /** Loads the model for a component, also after it was disposed of. */
  open(): Promise<void> {
    this.reopen();
    return this.#load();
  }

  /** Forgets an error that was thrown to an error boundary, so that the next component loads the model again. */
  forget(): void {
    this.#closeIfUnused(0);
  }

  /**
   * Loads the model, unless it is loaded.
   * @throws what `Client.initialize` throws; `disposed` after the last component was unmounted
   */
  readonly initialize = async (): Promise<void> => {
    if (this.#isClosed) throw unmounted();
    await this.#load();
  };

  /**
   * Loads the model, unless it is loaded, and predicts one input.
   * @throws what `initialize` and `Client.predict` throw
   */
  readonly predict = async (input: unknown, options: RequestOptions = {}): Promise<unknown> => {
    const { signal } = readRequestOptions(options);
    if (this.#state.status !== 'ready') await unlessAborted(this.initialize(), signal);
    if (!this.#client) throw unmounted();
    return await this.#client.predict(input, options);
  };

  /** Loads the model, unless it is loaded, and reads the parts of an answer. Reading throws what `predict` throws. */
  readonly stream = (input: unknown, options: RequestOptions = {}): AsyncIterable<unknown> =>
    this.#read(options, (client) => client.stream(input, options));

  /** Loads the model, unless it is loaded, and reads the answers to frames. Reading throws what `predict` throws. */
  readonly frames = (source: FrameSource, options: FramesOptions = {}): AsyncIterable<FrameAnswer<unknown>> =>
    this.#read(options, (client) => client.frames(source, options));

  /** Returns what `open` returns, which is called once the model is ready. */
  #read<Item>(
    { signal }: { readonly signal?: AbortSignal },
    open: (client: Client) => AsyncIterable<Item>,
  ): AsyncIterable<Item> {
    return readOnce<Item>(() => {
      let items: AsyncIterator<Item> | undefined;
      let isLeft = false;
      return {
        next: async () => {
          if (!items && !isLeft) {
            if (this.#state.status !== 'ready') await unlessAborted(this.initialize(), signal);
            if (!this.#client) throw unmounted();
            if (!isLeft) items = open(this.#client)[Symbol.asyncIterator]();
          }
          const { done, value } = (await items?.next()) ?? { done: true };
          return done ? { done: true, value: undefined } : { done: false, value: value as Item };
        },
        async return() {
          isLeft = true;
          await items?.return?.();
          return { done: true, value: undefined };
        },
      };
    });
  }

  #load(): Promise<void> {
    if (this.#state.status === 'ready') return Promise.resolve();
    if (this.#loading) return this.#loading;
    const loading = this.#initialize().finally(() => {
      if (this.#loading !== loading) return;
      this.#loading = undefined;
      this.#closeIfUnused(MAX_UNUSED_MS);
    });
    return (this.#loading = loading);
  }

  async #initialize(): Promise<void> {
    this.#set(LOADING);
    let client: Client | undefined;
    // A client that was disposed of meanwhile says nothing about the state any more.
    const isCurrent = (): boolean => client === this.#client;
    try {
      client = this.#client ??= this.#connect();
      await client.initialize({ onProgress: (progress) => isCurrent() && this.#report(progress) });
      if (isCurrent()) this.#set(readyState(client.backend!, client));
    } catch (error) {
      if (isCurrent()) this.#set(failedState(asTabServeError(error)));
      throw asTabServeError(error);
    }
  }

  #connect(): Client {
    const { factory, options } = this.source;
    const client: Client = factory ? connect(factory, options) : connect(options);
    client.on('backendchange', (backend) => {
      if (this.#state.client === client) this.#set(readyState(backend, client));
    });
    client.on('fail', (error) => {
      if (this.#state.client === client) this.#set(failedState(error));
    });
    return client;
  }

  #report(progress: Progress): void {
    if (!this.#progress)
      setTimeout(() => {
        const latest = this.#progress;
        if (latest && this.#state.status === 'loading') this.#set(loadingState(latest));
        this.#progress = undefined;
      }, PROGRESS_INTERVAL);
    this.#progress = progress;
  }

  /** Components hear of it in a task of their own: one of them may be rendering now. */
  #set(state: ModelState): void {
    this.#state = state;
    queueMicrotask(() => this.#listeners.forEach((listener) => listener()));
  }

  #closeIfUnused(milliseconds: number): void {
    if (this.#listeners.size > 0) return;
    clearTimeout(this.#closing);
    this.#closing = setTimeout(() => this.#close(), milliseconds);
  }

  #close(): void {
    const client = this.#client;
    this.#isClosed = true;
    this.#client = undefined;
    this.#loading = undefined;
    this.#progress = undefined;
    this.#set(IDLE);
    void client?.dispose();
  }
}

/** Reachable as long as a component has them, or their worker runs. */
const clients = new Set<WeakRef<SharedClient>>();

/** Returns the client that components with this source share. */
export function sharedClient(source: Source): SharedClient {
  const known = find((client) => isSame(client.source, source));
  if (known) return known;
  const client = new SharedClient(source);
  clients.add(new WeakRef(client));
  return client;
}

/**
 * Checks that a component that is going to suspend will find its client again: React forgets what the component held.
 * @throws `model-config` if its render before had the same data and other functions
 */
export function checkFunctions({ source }: SharedClient): void {
  const isRenderBefore = (other: SharedClient): boolean =>
    other.isSuspended &&
    isSameData(other.source, source) &&
    !isSame(other.source, source) &&
    String(other.source.factory) === String(source.factory);
  if (find(isRenderBefore))
    throw new TabServeError(
      'model-config',
      "useModel: with loading: 'suspense', each render must pass the same worker factory, and the same `verdicts`. Declare them outside of the component.",
    );
}

function find(matches: (client: SharedClient) => boolean): SharedClient | undefined {
  for (const reference of clients) {
    const client = reference.deref();
    if (!client) clients.delete(reference);
    else if (matches(client)) return client;
  }
  return undefined;
}

function unmounted(): TabServeError {
  return new TabServeError('disposed', 'The component that used this model has been unmounted.');
}

/** What a client is made from: a factory, or undefined for the built-in worker, and the options of `connect`. */
export interface Source {
  readonly factory: WorkerFactory | undefined;
  readonly options: ClientOptions;
}

/** Returns whether two sources are the same, with the same functions: their components share a client. */
export function isSame(a: Source, b: Source): boolean {
  return a.factory === b.factory && a.options.verdicts === b.options.verdicts && isSameData(a, b);
}

/**
 * Returns whether two sources have the same data: then a component keeps its client. A factory and a store of verdicts
 * that are written inline are new ones in every render, so they do not count.
 */
export function isSameData(a: Source, b: Source): boolean {
  const { verdicts: _a, ...dataOfA } = a.options;
  const { verdicts: _b, ...dataOfB } = b.options;
  return typeof a.factory === typeof b.factory && isEqual(dataOfA, dataOfB);
}

/** Compares lists, plain objects and URLs by their contents, and everything else, such as files, by identity. */
function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (a instanceof URL && b instanceof URL) return a.href === b.href;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((value, index) => isEqual(value, b[index]));
  if (!isPlainObject(a) || !isPlainObject(b)) return false;
  return Object.keys({ ...a, ...b }).every((key) => isEqual(a[key], b[key]));
}
