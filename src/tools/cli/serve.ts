import type { BackendName, CandidateName } from '../../contract/backends.js';
import { asTabServeError, messageOf, TabServeError } from '../../contract/errors.js';
import { accessLog, LOG_FORMATS } from '../../server/node/http/access-log.js';
import { numberFlag, wrongFlag } from './flags.js';
import { modelLoader } from './load-model.js';
import { LOG_LEVELS, modelLog } from './model-log.js';
import { ModelStore, type NamedArchive } from './model-store.js';
import { Snapshot } from './snapshot.js';
import type { NodeLoadOptions } from '../../server/node/connect.js';
import { hostName, originOf } from '../../server/node/http/guard.js';
import { importSharp } from '../../server/node/decode-file.js';
import { serveHttp } from '../../server/node/http/serve-http.js';
import { Tokens } from '../../server/node/http/tokens.js';
import type { HttpRequest, HttpResponse } from '../../server/http/messages.js';
import { answerWith, ModelServer } from '../../server/model-server.js';

/** The flags of `tabserve serve`. */
export interface ServeFlags {
  readonly port?: string | undefined;
  readonly host?: string | undefined;
  readonly management?: boolean | undefined;
  readonly cors?: readonly string[] | undefined;
  readonly 'allowed-host'?: readonly string[] | undefined;
  readonly backends?: string | undefined;
  readonly workers?: string | undefined;
  readonly worker?: string | undefined;
  readonly 'max-request-size'?: string | undefined;
  readonly 'max-response-size'?: string | undefined;
  readonly 'model-store'?: string | undefined;
  readonly snapshot?: string | undefined;
  readonly 'access-log'?: string | undefined;
  readonly 'model-log'?: string | undefined;
  readonly 'token-auth'?: boolean | undefined;
  readonly 'token-expiration-min'?: string | undefined;
  readonly timeout?: string | undefined;
}

/** A server that runs. */
export interface RunningServer {
  readonly url: string;
  /** Loads every archive once more, without losing a request. */
  reload(): Promise<void>;
  /** Accepts no more connections, finishes the answers that are under way, and ends the workers. */
  close(): Promise<void>;
}

const NO_SHARP =
  'Image files are answered with 501, because Node has no decoder for them. Install one: npm install sharp';

const ONLY_BUILT_IN =
  'Without --worker, tabserve serve runs the built-in handlers only. For a handler of your own, add --worker FILE: see docs/node.md#a-server-for-a-handler-of-your-own.';

/** TorchServe's port. */
const PORT = 8080;

/**
 * Serves archives over HTTP: TorchServe's inference and metrics API, the Open Inference Protocol and, with
 * `management`, TorchServe's management API.
 * @param archives paths, URLs, `NAME=PATH`, or `all` for every archive of the model store
 * @param print is called with a line for each model
 * @throws `model-config` for a wrong flag; `network` if it cannot listen; what `load` throws, after everything that was
 *   started has ended
 */
export async function serve(
  archives: readonly string[],
  flags: ServeFlags,
  print: (line: string) => void,
): Promise<RunningServer> {
  const format = oneOf('access-log', LOG_FORMATS, flags['access-log'] ?? 'common');
  const timeout = numberFlag('timeout', flags.timeout, 1, 86_400) ?? 120;
  const workers = numberFlag('workers', flags.workers, 1, 1024);
  const maxRequestSize = numberFlag('max-request-size', flags['max-request-size'], 1, 2 ** 40);
  const maxResponseSize = numberFlag('max-response-size', flags['max-response-size'], 1, 2 ** 40);
  // Node listens on every address of the machine if it gets an empty one.
  if (flags.host === '') throw wrongFlag('host', 'an address or a host name, such as 127.0.0.1', flags.host);
  const options = {
    port: numberFlag('port', flags.port, 0, 65_535) ?? PORT,
    host: flags.host ?? '127.0.0.1',
    timeout: timeout * 1000,
    origins: (flags.cors ?? []).map(allowedOrigin),
    hosts: [
      ...(flags['allowed-host'] ?? []).map(allowedHost),
      ...(flags.host === undefined ? [] : [flags.host.toLowerCase()]),
    ],
    ...(flags['access-log'] !== undefined && { onRequest: accessLog(format, print) }),
  };
  const common: NodeLoadOptions<never> = {
    ...(flags.backends !== undefined && { backends: flags.backends.split(',') as (BackendName | CandidateName)[] }),
    ...(workers !== undefined && { minWorkers: workers, maxWorkers: workers }),
  };
  const logLevel = flags['model-log'];
  const loadModel = modelLoader({
    worker: flags.worker,
    onClient: logLevel === undefined ? () => {} : modelLog(oneOf('model-log', LOG_LEVELS, logLevel), format, print),
  });
  const store = new ModelStore(flags['model-store']);
  const named = store.archives(archives);
  const tokens = await tokensOf(flags, print);
  const snapshot = flags.snapshot === undefined ? undefined : new Snapshot(flags.snapshot);
  const restored = await snapshot?.read();
  let isStarted = false;
  const keep = (): void =>
    void snapshot?.write(server).catch((error: unknown) => print(`--snapshot: ${messageOf(error as Error)}`));
  const server: ModelServer = new ModelServer({
    load: (model: string, given: object) => loadModel(store.locate(model), { ...common, ...given }),
    timeout: options.timeout,
    ...(maxRequestSize !== undefined && { maxRequestSize }),
    ...(maxResponseSize !== undefined && { maxResponseSize }),
    ...(flags.management === true && { management: { allowsUrl: (url) => store.allows(url) } }),
    onChange: () => isStarted && keep(),
  });
  try {
    if (restored) {
      print(`${flags.snapshot!}: the models of the last run. The archives of the command line are left out.`);
      for (const { location, error } of await server.restore(restored))
        print(`${location.name} ${location.version}: could not be loaded: ${error.message}`);
    } else await registerAll(server, named, print);
    for (const { name, versions } of server.list())
      for (const version of versions) {
        const { backend, modelUrl } = await server.describe(name, version);
        print(`${name} ${version}: ${modelUrl}, on ${backend.engine}/${backend.name}`);
      }
    isStarted = true;
    keep();
    await importSharp().catch(() => print(NO_SHARP));
    const answer = (request: HttpRequest): Promise<HttpResponse> => answerWith(server, request);
    // One at a time, because two would conflict.
    let reloading = Promise.resolve();
    const http = await serveHttp(tokens ? (request) => tokens.answer(request, answer) : answer, options);
    return {
      url: http.url,
      reload: () => (reloading = reloading.then(() => reload(server, print))),
      async close() {
        // Late requests are answered with 503.
        await http.close(() => void server.dispose());
        await server.dispose();
      },
    };
  } catch (error) {
    await server.dispose();
    throw error;
  }
}

/**
 * Loads and registers archives. Of those that `all` has found, the bad ones are named, and the others are served.
 * @throws what `load` throws for an archive that was named, and if none can be loaded
 */
async function registerAll(
  server: ModelServer,
  named: readonly NamedArchive[],
  print: (line: string) => void,
): Promise<void> {
  const failures: unknown[] = [];
  for (const one of named)
    await register(server, one).catch((error: unknown) => {
      failures.push(error);
      if (!one.isFound || failures.length === named.length) throw error;
      print(`Not served: ${asTabServeError(error).message}`);
    });
}

/** Loads and registers an archive. @throws what `load` throws, with the archive's path in the message */
async function register(server: ModelServer, { name, path }: NamedArchive): Promise<void> {
  try {
    await server.register(path, name === undefined ? {} : { name });
  } catch (cause) {
    const { code, message } = asTabServeError(cause);
    const advice = code === 'unknown-handler' ? ` ${ONLY_BUILT_IN}` : '';
    throw new TabServeError(code, `${path}: ${message}${advice}`, { cause });
  }
}

/** Loads every version once more. If one cannot be loaded, its former version stays. */
async function reload(server: ModelServer, print: (line: string) => void): Promise<void> {
  for (const { name, version } of server.snapshot())
    await server.reload(name, version).then(
      () => print(`${name} ${version}: loaded again`),
      (error: unknown) => print(`${name} ${version}: not loaded again: ${messageOf(error as Error)}`),
    );
}

/** TorchServe's file. */
const KEY_FILE = 'key_file.json';

/** Makes the keys of requests, if the flags say so. */
async function tokensOf(flags: ServeFlags, print: (line: string) => void): Promise<Tokens | undefined> {
  const minutes = numberFlag('token-expiration-min', flags['token-expiration-min'], 1, 1_000_000);
  if (flags['token-auth'] !== true) {
    if (minutes === undefined) return undefined;
    throw wrongFlag('token-expiration-min', 'the flag --token-auth beside it', String(minutes));
  }
  const tokens = await Tokens.create(KEY_FILE, { lifetime: (minutes ?? 60) * 60_000 });
  print(`Requests need a key of ${KEY_FILE}.`);
  return tokens;
}

/** @throws `model-config` if the text is none of the values */
function oneOf<T extends string>(flag: string, values: readonly T[], text: string): T {
  const found = values.find((one) => one === text);
  if (found === undefined) throw wrongFlag(flag, values.join(' or '), text);
  return found;
}

/** @throws `model-config` if it is no host name, or has a port, with which it would allow no request */
function allowedHost(text: string): string {
  const name = text.toLowerCase();
  if (hostName(name) === name) return name;
  throw wrongFlag('allowed-host', 'a host name without http:// and port, such as my-server.example', text);
}

/** @throws `model-config` if it is no origin, and not `*` */
function allowedOrigin(text: string): string {
  const origin = originOf(text);
  if (origin !== undefined) return origin;
  throw wrongFlag('cors', 'an origin such as http://localhost:5173 or app://obsidian.md, or *', text);
}
