/**
 * A made-up hub, which answers as huggingface.co does over HTTP: its API lists a repository; a small file is a redirect
 * (307) to the path of its commit at the Hub itself, a large one a redirect (302) to a signed address of a file server.
 * @see https://github.com/huggingface/swift-transformers/pull/209 for the redirect within the Hub
 * @see https://github.com/huggingface/datasets/issues/7931 for the file server, which refuses a preflight
 */
import { createHash, type Hash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { hubFetch } from './hub-fetch.ts';
import { madeUpCertificate } from './made-up-certificate.ts';

const HUB = 'https://huggingface.co';

/** A file of a repository. */
export interface HubFile {
  readonly bytes: Uint8Array | string;
  /** Whether it is stored as a large file. */
  readonly isLarge?: boolean;
}

export interface HubRepository {
  /** The files of each branch and tag. */
  readonly revisions: Readonly<Record<string, Readonly<Record<string, HubFile>>>>;
  /** Whether its conditions must be accepted; only a request with this token gets its files. */
  readonly gatedFor?: string;
}

/** What was asked of the hub and its servers. */
export interface HubRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
}

/**
 * How one request is answered that would get a file, or the list.
 *
 * - `status`: with this status and these headers, and without the file.
 * - `cut`: breaks off after this part of the bytes, and not before `arrived`: a browser drops what its page has not read.
 * - `gzip`: compressed, with the Content-Length of what is sent.
 */
export type HubFault =
  | { readonly kind: 'status'; readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  | { readonly kind: 'cut'; readonly at: number; readonly arrived?: Promise<unknown> }
  | { readonly kind: 'gzip' };

interface HubOptions {
  /** By name: the files of `main`, or all of it. */
  readonly repositories: Readonly<Record<string, HubRepository | Readonly<Record<string, HubFile>>>>;
  /** Where large files are. */
  readonly fileServer?: string;
  /** Whether it speaks TLS, as a browser needs it. */
  readonly isSecure?: boolean;
}

const EXPOSED =
  'X-Repo-Commit,X-Request-Id,X-Error-Code,X-Error-Message,X-Total-Count,ETag,Link,Accept-Ranges,Content-Range,X-Linked-Size,X-Linked-ETag,X-Xet-Hash';

export class MadeUpHub {
  readonly asked: HubRequest[] = [];
  readonly #repositories = new Map<string, HubRepository>();
  readonly #faults: { readonly path: RegExp; readonly faults: HubFault[] }[] = [];
  readonly #fileServer: string;
  readonly #server: Server;
  /** Signed addresses are valid from this number on. */
  #signedSince = 1;
  #signatures = 0;
  /** Whether it has no list of files, as when only its API is overloaded. */
  hasApi = true;

  private constructor({ repositories, fileServer = 'https://cas-bridge.xethub.hf.co', isSecure }: HubOptions) {
    this.#fileServer = fileServer;
    for (const [name, one] of Object.entries(repositories))
      this.#repositories.set(name, 'revisions' in one ? (one as HubRepository) : { revisions: { main: one } });
    const answer = (request: IncomingMessage, response: ServerResponse): void => this.#answer(request, response);
    this.#server = isSecure ? createSecureServer(madeUpCertificate(), answer) : createServer(answer);
  }

  static async start(options: HubOptions): Promise<MadeUpHub> {
    const hub = new MadeUpHub(options);
    await new Promise<void>((resolve) => hub.#server.listen(0, '127.0.0.1', resolve));
    return hub;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Returns a `fetch` that reaches the hub and its file server, and nothing else. */
  fetch(page?: string): typeof globalThis.fetch {
    return hubFetch({ port: this.port, origins: [HUB, this.#fileServer], page });
  }

  /** The paths that were asked for at the hub and its file server, without preflights. */
  get paths(): readonly string[] {
    return this.asked.filter(({ method }) => method !== 'OPTIONS').map(({ url }) => url.pathname);
  }

  /** Sets how the next requests for paths are answered, wherever they lead; then as usual. */
  plan(path: RegExp, ...faults: HubFault[]): void {
    this.#faults.push({ path, faults });
  }

  /** Replaces files of the branch `main`. */
  commit(name: string, files: Readonly<Record<string, HubFile>>): void {
    const repository = this.#repositories.get(name)!;
    const before = repository.revisions['main']!;
    const revisions = { ...repository.revisions, [commitOf(before)]: before, main: { ...before, ...files } };
    this.#repositories.set(name, { ...repository, revisions });
  }

  /** Makes all signed addresses invalid that were given so far. */
  expire(): void {
    this.#signedSince = this.#signatures + 1;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  [Symbol.dispose](): void {
    this.stop();
  }

  #answer({ url: path, method, headers }: IncomingMessage, response: ServerResponse): void {
    const host = (headers['x-made-up-origin'] as string | undefined) ?? `https://${headers.host!.replace(/:\d+$/, '')}`;
    const url = new URL(path!, host);
    const isFileServer = url.origin === this.#fileServer;
    this.asked.push({ method: method!, url, headers: new Headers(headers as Record<string, string>) });
    if (method === 'OPTIONS')
      return isFileServer
        ? void response.writeHead(403, { 'access-control-allow-origin': '*' }).end()
        : void response
            .writeHead(204, {
              'access-control-allow-origin': '*',
              'access-control-allow-headers': headers['access-control-request-headers'] ?? '',
            })
            .end();
    response.setHeader('access-control-allow-origin', '*');
    response.setHeader('access-control-expose-headers', isFileServer ? 'ETag' : EXPOSED);
    response.setHeader('cross-origin-resource-policy', 'cross-origin');
    const plan = this.#faults.find((one) => one.path.test(url.pathname) && one.faults.length > 0);
    const fault = plan?.faults.shift();
    if (fault?.kind === 'status') return void response.writeHead(fault.status, fault.headers).end('busy');
    if (isFileServer) return this.#sendSigned(url, headers, response, fault);
    if (url.pathname.startsWith('/api/models/')) return this.#list(url, response);
    if (url.pathname.startsWith('/api/resolve-cache/models/')) {
      const [, org, name, commit, ...rest] = url.pathname.slice('/api/resolve-cache'.length).split('/').slice(1);
      const files = this.#revision(`${org}/${name}`, commit!)!;
      const file = files[decodeURIComponent(rest.join('/'))]!;
      response.setHeader('etag', `"${gitHash(file.bytes)}"`);
      return send(file.bytes, headers, response, fault);
    }
    return this.#resolve(url, headers, response);
  }

  /** Returns the files of a branch, a tag or a commit. */
  #revision(name: string, revision: string): Readonly<Record<string, HubFile>> | undefined {
    const revisions = this.#repositories.get(name)?.revisions ?? {};
    return revisions[revision] ?? Object.values(revisions).find((files) => commitOf(files) === revision);
  }

  #list(url: URL, response: ServerResponse): void {
    const [, , , org, name, kind, revision = 'main'] = url.pathname.split('/');
    const id = `${org}/${name}`;
    const limit = { ratelimit: '"api";r=499;t=297', 'ratelimit-policy': '"fixed window";"api";q=500;w=300' };
    if (!this.hasApi) return fail(response, 503, undefined, 'Service unavailable');
    if (!this.#repositories.has(id)) return fail(response, 401, 'RepoNotFound', 'Repository not found');
    const files = this.#revision(id, decodeURIComponent(revision));
    if (kind !== 'revision' || !files)
      return fail(response, 404, 'RevisionNotFound', `Invalid rev id: ${decodeURIComponent(revision)}`);
    const siblings = Object.entries(files).map(([rfilename, { bytes, isLarge }]) => {
      const size = Buffer.from(bytes as string).length;
      const lfs = { sha256: sha256(bytes), size, pointerSize: 134 };
      return { rfilename, size, blobId: gitHash(bytes), ...(isLarge && { lfs }) };
    });
    const gated = this.#repositories.get(id)!.gatedFor === undefined ? false : 'manual';
    const body = JSON.stringify({ id, sha: commitOf(files), private: false, gated, downloads: 1, siblings });
    response.writeHead(200, { 'content-type': 'application/json', etag: `W/"${sha256(body).slice(0, 16)}"`, ...limit });
    response.end(body);
  }

  #resolve(url: URL, headers: IncomingMessage['headers'], response: ServerResponse): void {
    const [, org, name, kind, revision = '', ...rest] = url.pathname.split('/');
    const id = `${org}/${name}`;
    const path = decodeURIComponent(rest.join('/'));
    const repository = this.#repositories.get(id);
    if (!repository) return fail(response, 401, 'RepoNotFound', 'Invalid username or password.');
    const files = kind === 'resolve' ? this.#revision(id, decodeURIComponent(revision)) : undefined;
    if (!files) return fail(response, 404, 'RevisionNotFound', `Invalid rev id: ${revision}`);
    const { gatedFor } = repository;
    if (gatedFor !== undefined && headers.authorization !== `Bearer ${gatedFor}`)
      return fail(response, headers.authorization ? 403 : 401, 'GatedRepo', `Access to model ${id} is restricted.`);
    const file = files[path];
    const commit = commitOf(files);
    response.setHeader('x-repo-commit', commit);
    if (!file) return fail(response, 404, 'EntryNotFound', 'Entry not found');
    response.setHeader('x-linked-size', String(Buffer.from(file.bytes as string).length));
    response.setHeader('x-linked-etag', `"${file.isLarge ? sha256(file.bytes) : gitHash(file.bytes)}"`);
    response.setHeader('ratelimit', '"resolvers";r=2999;t=297');
    const location = file.isLarge
      ? `${this.#fileServer}/xet-bridge-us/${encodeURIComponent(`${id}:${commit}:${path}`)}?X-Amz-Expires=3600&X-Amz-Signature=${(this.#signatures += 1)}`
      : `/api/resolve-cache/models/${id}/${commit}/${encodeURIComponent(path)}?download=true&etag=%22${gitHash(file.bytes)}%22`;
    response.writeHead(file.isLarge ? 302 : 307, { location }).end();
  }

  #sendSigned(url: URL, headers: IncomingMessage['headers'], response: ServerResponse, fault?: HubFault): void {
    if (Number(url.searchParams.get('X-Amz-Signature')) < this.#signedSince)
      return void response
        .writeHead(403, { 'content-type': 'application/xml' })
        .end('<Error>Request has expired</Error>');
    const [id, commit, path] = decodeURIComponent(url.pathname.slice('/xet-bridge-us/'.length)).split(':');
    const { bytes } = this.#revision(id!, commit!)![path!]!;
    response.setHeader('etag', `"${sha256(bytes)}"`);
    send(bytes, headers, response, fault);
  }
}

/** Sends a file, or the rest of it. */
function send(
  bytes: Uint8Array | string,
  { range }: IncomingMessage['headers'],
  response: ServerResponse,
  fault: HubFault | undefined,
): void {
  const whole = Buffer.from(bytes as string);
  const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? [];
  const end = last ? Math.min(Number(last) + 1, whole.length) : whole.length;
  const part = first === undefined ? whole : whole.subarray(Number(first), end);
  const body = fault?.kind === 'gzip' ? gzipSync(part) : part;
  response.writeHead(first === undefined ? 200 : 206, {
    'content-type': 'application/octet-stream',
    'accept-ranges': 'bytes',
    'content-length': body.length,
    'last-modified': 'Mon, 01 Jan 2024 00:00:00 GMT',
    ...(fault?.kind === 'gzip' && { 'content-encoding': 'gzip' }),
    ...(first !== undefined && { 'content-range': `bytes ${first}-${end - 1}/${whole.length}` }),
  });
  if (fault?.kind === 'cut')
    response.write(
      body.subarray(0, Math.floor(body.length * fault.at)),
      () => void Promise.resolve(fault.arrived).then(() => response.destroy()),
    );
  else response.end(body);
}

function fail(response: ServerResponse, status: number, code: string | undefined, message: string): void {
  response.writeHead(status, {
    'content-type': 'text/plain',
    ...(code && { 'x-error-code': code, 'x-error-message': message }),
  });
  response.end(message);
}

function commitOf(files: Readonly<Record<string, HubFile>>): string {
  const hash = createHash('sha1');
  for (const [path, { bytes }] of Object.entries(files)) hash.update(`${path}\0${gitHash(bytes)}\0`);
  return hash.digest('hex');
}

/** Returns what Git calls a file. */
function gitHash(bytes: Uint8Array | string): string {
  return once(bytes, 'sha1', () => createHash('sha1').update(`blob ${Buffer.byteLength(bytes as string)}\0`));
}

function sha256(bytes: Uint8Array | string): string {
  return once(bytes, 'sha256', () => createHash('sha256'));
}

/** The hashes of files: those of a large one take seconds, in which nobody else is answered. */
const hashes = new WeakMap<Uint8Array, Record<string, string>>();

function once(bytes: Uint8Array | string, name: string, begin: () => Hash): string {
  if (typeof bytes === 'string') return begin().update(bytes).digest('hex');
  const known = hashes.get(bytes) ?? {};
  hashes.set(bytes, known);
  return (known[name] ??= begin().update(bytes).digest('hex'));
}
