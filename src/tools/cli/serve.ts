import { realpathSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import type { BackendName, CandidateName } from '../../contract/backends.js';
import { wrongFlag } from './flags.js';
import { load, type NodeLoadOptions } from '../../server/node/connect.js';
import { hostName } from '../../server/node/http/guard.js';
import { importSharp } from '../../server/node/decode-file.js';
import { serveHttp } from '../../server/node/http/serve-http.js';
import { ModelServer } from '../../server/model-server.js';

/** The flags of `tabserve serve`. */
export interface ServeFlags {
  readonly port?: string | undefined;
  readonly host?: string | undefined;
  readonly management?: boolean | undefined;
  readonly cors?: readonly string[] | undefined;
  readonly 'allowed-host'?: readonly string[] | undefined;
  readonly backends?: string | undefined;
  readonly workers?: string | undefined;
  readonly 'max-request-size'?: string | undefined;
  readonly timeout?: string | undefined;
}

/** A server that runs. */
export interface RunningServer {
  readonly url: string;
  /** Accepts no more connections, finishes the answers that are under way, and ends the workers. */
  close(): Promise<void>;
}

const NO_SHARP =
  'Image files are answered with 501, because Node has no decoder for them. Install one: npm install sharp';

/** TorchServe's port. */
const PORT = 8080;

/**
 * Serves archives over HTTP: TorchServe's inference and metrics API, the Open Inference Protocol and, with
 * `management`, TorchServe's management API.
 * @param paths of archives, or URLs
 * @param print is called with a line for each model
 * @throws `model-config` for a wrong flag; `network` if it cannot listen; what `load` throws, after everything that was
 *   started has ended
 */
export async function serve(
  paths: readonly string[],
  flags: ServeFlags,
  print: (line: string) => void,
): Promise<RunningServer> {
  const timeout = numberOf(flags, 'timeout', 1, 86_400) ?? 120;
  const workers = numberOf(flags, 'workers', 1, 1024);
  const maxRequestSize = numberOf(flags, 'max-request-size', 1, 2 ** 40);
  // Node listens on every address of the machine if it gets an empty one.
  if (flags.host === '') throw wrongFlag('host', 'an address or a host name, such as 127.0.0.1', flags.host);
  const options = {
    port: numberOf(flags, 'port', 0, 65_535) ?? PORT,
    host: flags.host ?? '127.0.0.1',
    timeout: timeout * 1000,
    origins: (flags.cors ?? []).map(originOf),
    hosts: [
      ...(flags['allowed-host'] ?? []).map(allowedHost),
      ...(flags.host === undefined ? [] : [flags.host.toLowerCase()]),
    ],
  };
  const common: NodeLoadOptions<never> = {
    ...(flags.backends !== undefined && { backends: flags.backends.split(',') as (BackendName | CandidateName)[] }),
    ...(workers !== undefined && { minWorkers: workers, maxWorkers: workers }),
  };
  const server = new ModelServer({
    load: (model: string, given: object) => load(model, { ...common, ...given }),
    timeout: options.timeout,
    ...(maxRequestSize !== undefined && { maxRequestSize }),
    ...(flags.management === true && { management: { allowsUrl: isBelowWorkingDirectory } }),
  });
  try {
    for (const path of paths) {
      const { name, version } = await server.register(path);
      const { backend } = await server.describe(name, version);
      print(`${name} ${version}: ${path}, on ${backend.engine}/${backend.name}`);
    }
    await importSharp().catch(() => print(NO_SHARP));
    const http = await serveHttp((request) => server.fetch(request), options);
    return {
      url: http.url,
      async close() {
        // What is late is answered with 503.
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
 * Returns whether a model may be registered from there: from a path in the working directory, and from no URL. A link
 * that leads out of it is no such path.
 */
function isBelowWorkingDirectory(url: string): boolean {
  if (/^[a-z][a-z\d+.-]+:/i.test(url)) return false;
  const path = relative(realPath('.'), realPath(url));
  return path !== '' && !isAbsolute(path) && path.split(sep, 1)[0] !== '..';
}

/** Returns the absolute path, without links; as it is written if there is nothing, so that loading it says so. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

/** @throws `model-config` if it is no whole number within the limits */
function numberOf(flags: ServeFlags, name: keyof ServeFlags, min: number, max: number): number | undefined {
  const text = flags[name];
  if (text === undefined) return undefined;
  const value = /^\d+$/.test(String(text)) ? Number(text) : NaN;
  if (value >= min && value <= max) return value;
  throw wrongFlag(name, `a whole number from ${min} to ${max}`, text);
}

/** @throws `model-config` if it is no host name, or has a port: no request would be allowed by it */
function allowedHost(text: string): string {
  const name = text.toLowerCase();
  if (hostName(name) === name) return name;
  throw wrongFlag('allowed-host', 'a host name without http:// and port, such as my-server.example', text);
}

/** @throws `model-config` if it is no origin, and not `*` */
function originOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (text === '*' || (url && url.origin !== 'null' && url.href === `${url.origin}/`)) return url?.origin ?? text;
  throw wrongFlag('cors', 'an origin such as http://localhost:5173, or *', text);
}
