import type { TabServeError } from '../contract/errors.js';
import { browserClock, type Clock } from '../shared/clock.js';
import { checkTimeout } from '../shared/limit.js';
import { readCallOptions, wrongValue } from '../shared/read-options.js';
import type { ManagementOptions } from './http/management.js';
import type { ServedClient, ServedDescription } from './served-client.js';

/** A function that loads a model: `load` of `tabserve`, or of `tabserve/node`. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- each `load` has a type of its own for both
export type LoadModel = (model: any, options: any) => Promise<ServedClient>;

/** The options of `Load`. */
export type LoadOptionsOf<Load extends LoadModel> = [NonNullable<Parameters<Load>[1]>] extends [never]
  ? object
  : NonNullable<Parameters<Load>[1]>;

/** What a server is made with. */
export interface ModelServerOptions<Load extends LoadModel = LoadModel> {
  /**
   * Loads a model that is registered by its location: `load` of `tabserve`, or of `tabserve/node`.
   * @default only clients can be registered
   */
  readonly load?: Load;
  /**
   * The maximum number of bytes of a request's body: a larger one is answered with 413. The name and the default are TorchServe's.
   * @default 6553500
   */
  readonly maxRequestSize?: number;
  /**
   * The maximum number of bytes of an answer over HTTP: a larger one is replaced by an error 500. One that is sent in parts has no
   * limit. The name is TorchServe's.
   * @default no limit
   */
  readonly maxResponseSize?: number;
  /**
   * Milliseconds within which a request over HTTP is answered: after that, it is answered with 408. For an answer in
   * parts, until the first part, and from each part to the next.
   * @default 120000
   */
  readonly timeout?: number;
  /**
   * Lets requests over HTTP register, change and remove models: TorchServe's management API. Without it, they only
   * read.
   */
  readonly management?: ManagementOptions;
  /** Called when a version was registered, removed, scaled or made a default: time to store `snapshot()`. */
  readonly onChange?: () => void;
  /** @default the browser's */
  readonly clock?: Clock;
}

/** The options of a server, with their defaults. */
export interface ServerSettings {
  readonly load: LoadModel | undefined;
  readonly maxRequestSize: number;
  readonly maxResponseSize: number;
  readonly timeout: number;
  readonly management: ManagementOptions | undefined;
  readonly onChange: (() => void) | undefined;
  readonly clock: Clock;
}

/** @throws `invalid-input` for a wrong option, and for one that does not exist */
export function readServerOptions(options: ModelServerOptions): ServerSettings {
  const {
    load,
    maxRequestSize = 6_553_500,
    maxResponseSize = Infinity,
    timeout = 120_000,
    management,
    onChange,
    clock = browserClock,
  } = readCallOptions(options, 'ModelServer', [
    'load',
    'maxRequestSize',
    'maxResponseSize',
    'timeout',
    'management',
    'onChange',
    'clock',
  ]);
  checkTimeout(timeout);
  for (const [name, size] of Object.entries({ maxRequestSize, maxResponseSize }))
    if (!(typeof size === 'number' && size > 0)) throw wrongValue(name, 'a number above 0', size);
  if (load && typeof load !== 'function') throw wrongValue('load', 'a function', load);
  if (onChange && typeof onChange !== 'function') throw wrongValue('onChange', 'a function', onChange);
  const { allowsUrl } = management ?? {};
  if (management && typeof allowsUrl !== 'function') throw wrongValue('management.allowsUrl', 'a function', allowsUrl);
  return { load, maxRequestSize, maxResponseSize, timeout, management, onChange, clock };
}

/** What `register` takes in addition to the model and the options of `load`. */
export interface RegisterOptions {
  /** @default the name in the archive's manifest */
  readonly name?: string;
  /** @default the version in the archive's manifest; `1.0` if it has none */
  readonly version?: string;
  /**
   * Whether an answer over HTTP is sent in parts: each one that the handler sends with `context.send`, then its result.
   * Such requests are not batched.
   * @default false
   */
  readonly stream?: boolean;
}

/** A version of a model. */
export interface RegisteredModel {
  /** The name by which the model is asked. */
  readonly name: string;
  /** The version, such as `1.0`. */
  readonly version: string;
}

/** A version of a model that was registered by its location, as data: `register(model, options)` brings it back. */
export interface RegisteredLocation extends RegisteredModel {
  /** Where the model is. */
  readonly model: string;
  /** Whether requests without a version go to it. */
  readonly isDefault: boolean;
  /** What it was registered with, in addition to name and version, as far as JSON can represent it. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** A version that `restore` could not load. */
export interface FailedModel {
  /** The version, as the snapshot has it. */
  readonly location: RegisteredLocation;
  /** Why it could not be loaded. */
  readonly error: TabServeError;
}

/** The versions of a model that take requests. */
export interface ListedModel {
  /** The name by which the model is asked. */
  readonly name: string;
  /** The version to which requests without a version go. */
  readonly defaultVersion: string;
  /** In the order of their registration. */
  readonly versions: readonly string[];
}

/** A version of a model, and what its client says about it. */
export interface DescribedModel extends ServedDescription, RegisteredModel {
  /** Whether requests without a version go to it. */
  readonly isDefault: boolean;
  /** Where the model came from; empty if it was registered as a client. */
  readonly modelUrl: string;
  /** When it was loaded last. */
  readonly loadedAt: Date;
  /** Requests that are not answered yet. */
  readonly activeRequests: number;
}
