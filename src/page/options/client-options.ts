import type { Integrity, ModelConfig } from '../../contract/archive.js';
import type { BackendName, CandidateName, PowerPreference } from '../../contract/backends.js';
import type { CacheName, DownloadRequest } from '../../contract/downloads.js';
import { TabServeError } from '../../contract/errors.js';
import type { Handler } from '../../contract/handler.js';
import type { RemoteOptions } from '../../contract/remote.js';
import { CLIENT_SETTINGS, SERVING, type ClientSettings, type Serving } from '../../contract/settings.js';
import { readOptions, wrongValue } from '../../shared/read-options.js';
import type { RequestParams } from '../requests/request-options.js';
import type { VerdictStore } from '../selection/verdicts.js';
import type { ModelLocation } from './model-location.js';

/** What `load` and `connect` take. The settings of `Serving` replace the archive's own. */
export interface ClientOptions<H extends Handler = Handler, Form = never> extends Partial<Serving>, ClientSettings {
  /**
   * URL of a model archive (a folder, or a packed one: `.mar`, `.zip`, `.tar.gz`) or of a bare model (`.onnx`, or
   * TensorFlow.js's `model.json`), relative to the page; or what the visitor chose or dropped: a packed archive, an
   * `.onnx` file, or all files of an archive.
   */
  readonly model: ModelLocation;
  /**
   * Backends to try, in this order. A backend's name such as `webgl` means every engine on it for which the archive has
   * a model; `tfjs/webgl` means that candidate alone. ONNX Runtime's WebGL computes some models wrongly. So it serves
   * only after it was proven correct, even if it is named: by a golden example or, without one, by a comparison with
   * WASM in a second worker. If neither is possible, it is skipped. The same is true of WebNN (`webnn`), which also
   * needs fixed dimensions (`engine.freeDimensions`). `remote` is the server that the option `remote` names; put it
   * last, for devices that cannot run the model.
   * @default WebGPU on real hardware, WebGL on real hardware, WASM, then GPUs in software; `cpu` and `remote` only if
   *   named; ONNX Runtime's WebGL only if named, with golden examples, or with `verify: 'reference'`; WebNN only if
   *   named, or with `prefer: 'fastest'`
   */
  readonly backends?: readonly (BackendName | CandidateName)[];
  /**
   * Which GPU to ask the browser for, where a device has several: `low-power` saves its battery. The browser may choose
   * another one. ONNX Runtime's WebGL cannot ask, and the event `warn` says so.
   * @default `high-performance` on WebGPU and WebNN; on WebGL what the browser chooses
   */
  readonly powerPreference?: PowerPreference;
  /**
   * The server for the backend `remote`, such as `{ url: 'https://models.example.org/' }`, which `backends` must name
   * too. Preprocessing and postprocessing stay on this device: only tensors travel.
   */
  readonly remote?: RemoteOptions;
  /**
   * `first`: the first backend of that order that runs the model correctly. `fastest`: of the backends that run it
   * correctly, the one with the lowest median latency; measurements are cached, for this model, engine, adapter and
   * browser. @default 'first'
   */
  readonly prefer?: 'first' | 'fastest';
  /**
   * How a backend is proven. `golden`: by the archive's golden examples, if it has any. `reference`: if it has none, by
   * a comparison with WASM in a second worker, on black, noise, smooth waves and, for handlers of images, drawn
   * pictures with the features of photographs; the verdict is cached. Outputs that are not finite, and those of ONNX
   * Runtime's WebGL, are always compared. @default 'golden'
   */
  readonly verify?: 'golden' | 'reference';
  /**
   * Where verdicts on backends are cached. One that fails, or does not answer within a second, is treated as empty.
   * @default IndexedDB
   */
  readonly verdicts?: VerdictStore;
  /** Overrides keys of the archive's `model-config.yaml`, e.g. `{ handler: { topK: 3 } }`. */
  readonly config?: ConfigFor<H, Form>;
  /**
   * URL of a folder with the files that `npx tabserve copy` writes: the engines' files and, if the folder is of the
   * page's own origin, the built-in worker's script.
   * @default where the bundler has placed them
   */
  readonly assets?: string | URL;
  /**
   * Headers and credentials of the requests for the model's files, e.g. `{ headers: { Authorization: 'Bearer …' } }`.
   * They are sent to the model's own origin only.
   */
  readonly request?: DownloadRequest;
  /**
   * Origins, such as `https://cdn.example.org`, that a redirect of the model's or the engine's files may lead to.
   * @default no other origin than the file's own
   */
  readonly allowedOrigins?: readonly string[];
  /**
   * SHA-256 hashes, in hexadecimal, or sizes and hashes, that the model's files must have, by their path in the
   * archive; for a bare file, by its name. They apply in addition to those of `tabserve.json`. A file that does not
   * match is refused before it is used; so is an entry for a file that does not exist.
   */
  readonly integrity?: Readonly<Record<string, string | Integrity>>;
  /**
   * Where the files of the model and the engine are cached for the next visit: with the Cache API, in the origin
   * private file system, or nowhere. A cache that cannot be used, or is full, is reported by the event `warn`, and the
   * files are downloaded. @default 'cache-api'
   */
  readonly cache?: CacheName;
  /**
   * Whether the tabs of one origin share one model, which runs in one of them: five tabs have one copy of the weights.
   * Tabs share if all their options are the same. A name distinguishes shares with equal options. It is needed with the
   * app's own worker and with files that the visitor has chosen, and declares that their model is the same. Where the
   * browser lacks what sharing needs, the client opens its own model, and the event `warn` says why. @default false
   */
  readonly share?: boolean | string;
}

/** A client's options, with the name of the built-in handler. */
export interface OpenerOptions extends ClientOptions {
  readonly handler?: string | undefined;
}

/** A config whose `handler` section has the params of `H`, with their types, among its keys. */
export type ConfigFor<H extends Handler, Form> = ModelConfig & { readonly handler?: RequestParams<H, Form> };

type OwnOption = Exclude<keyof OpenerOptions, keyof typeof SERVING | keyof typeof CLIENT_SETTINGS>;

const OWN: Readonly<Record<OwnOption, true>> = {
  model: true,
  handler: true,
  backends: true,
  powerPreference: true,
  remote: true,
  prefer: true,
  verify: true,
  verdicts: true,
  config: true,
  assets: true,
  request: true,
  allowedOrigins: true,
  integrity: true,
  cache: true,
  share: true,
};

/**
 * Reads a client's options.
 * @throws `model-config` if they are not an object, or one of them does not exist, or the handler is not a name
 */
export function readClientOptions<T extends object>(options: T): T {
  const read = readOptions(
    options,
    "options with the model's URL, such as { model: '/models/digits/' }",
    'model-config',
  );
  const names = Object.keys({ ...OWN, ...SERVING, ...CLIENT_SETTINGS });
  for (const [name, value] of Object.entries(read))
    if (value !== undefined && !names.includes(name))
      throw new TabServeError('model-config', `${name} is not an option; there are ${names.join(', ')}.`);
  const { handler } = read as { readonly handler?: unknown };
  if (handler !== undefined && typeof handler !== 'string')
    throw wrongValue('handler', 'the name of a built-in handler', handler, 'model-config');
  return read;
}

/** Returns the caller's config, with the serving settings among the options. */
export function configOf(options: OpenerOptions): ModelConfig {
  const settings = Object.entries(options).filter(([key, value]) => key in SERVING && value !== undefined);
  return { ...options.config, ...Object.fromEntries(settings) };
}
