/**
 * A hub for tests, which answers as huggingface.co does: a small file by a redirect (307) to the path of its commit at
 * the Hub itself, a large one by a redirect (302) to a signed address of a file server.
 * @see https://github.com/huggingface/swift-transformers/pull/209 for the redirect within the Hub
 */

/** A file of a repository. */
interface HubFile {
  readonly bytes: Uint8Array | string;
  /** Whether it is stored as a large file. */
  readonly isLarge?: boolean;
}

/** What was asked of the hub and its servers. */
interface HubRequest {
  readonly url: URL;
  readonly headers: Headers;
}

interface HubOptions {
  /** By the repository's name, and the path in it. */
  readonly repositories: Readonly<Record<string, Readonly<Record<string, HubFile>>>>;
  /** Where large files are. */
  readonly fileServer?: string;
  /** Whether redirects are hidden and followed as a browser does, or shown as Node does. */
  readonly likeBrowser?: boolean;
}

const COMMIT = '0123456789abcdef0123456789abcdef01234567';

/** A `fetch` that reaches the hub and its file server, and nothing else. */
export function hub({
  repositories,
  fileServer = 'https://cas-bridge.xethub.hf.co',
  likeBrowser = false,
}: HubOptions): {
  readonly fetch: typeof globalThis.fetch;
  readonly asked: HubRequest[];
} {
  const asked: HubRequest[] = [];
  const answer = (url: URL, headers: Headers): Response => {
    asked.push({ url, headers });
    const [, org, name, kind, revision, ...path] = url.pathname.split('/');
    if (url.origin === fileServer) {
      const [repository, file] = decodeURIComponent(url.pathname.slice('/xet-bridge-us/'.length)).split(':');
      return new Response(repositories[repository!]![file!]!.bytes as string);
    }
    if (url.pathname.startsWith('/api/resolve-cache/models/')) {
      const [owner, own, , ...rest] = url.pathname.slice('/api/resolve-cache/models/'.length).split('/');
      return new Response(repositories[`${owner}/${own}`]![rest.join('/')]!.bytes as string);
    }
    const repository = repositories[`${org}/${name}`];
    if (!repository) return error(401, 'RepoNotFound', 'Repository not found');
    if (kind !== 'resolve' || revision !== 'main') return error(404, 'RevisionNotFound', `Invalid rev id: ${revision}`);
    const file = repository[path.join('/')];
    if (!file) return error(404, 'EntryNotFound', 'Entry not found');
    const common = { 'x-repo-commit': COMMIT, 'x-linked-etag': '"1"', 'x-linked-size': String(file.bytes.length) };
    return file.isLarge
      ? redirect(
          302,
          `${fileServer}/xet-bridge-us/${encodeURIComponent(`${org}/${name}:${path.join('/')}`)}?X-Amz-Signature=1`,
          common,
        )
      : redirect(
          307,
          `/api/resolve-cache/models/${org}/${name}/${COMMIT}/${path.join('/')}?download=true&etag=%221%22`,
          common,
        );
  };
  const fetch = async (input: URL | string | Request, init: RequestInit = {}): Promise<Response> => {
    let url = new URL(input instanceof Request ? input.url : input);
    const headers = new Headers(init.headers);
    for (;;) {
      const known = url.origin === 'https://huggingface.co' || url.origin === fileServer;
      if (!known) throw new TypeError(`nothing answers at ${url.origin}`);
      const response = answer(url, new Headers(headers));
      const location = response.headers.get('location');
      if (location === null) return Object.defineProperty(response, 'url', { value: url.href });
      if (init.redirect === 'manual' && likeBrowser)
        return Object.defineProperties(new Response(null), { type: { value: 'opaqueredirect' }, status: { value: 0 } });
      if (init.redirect === 'manual') return response;
      const target = new URL(location, url);
      if (target.origin !== url.origin) headers.delete('authorization');
      url = target;
    }
  };
  return { fetch: fetch as typeof globalThis.fetch, asked };
}

function redirect(status: number, location: string, headers: Readonly<Record<string, string>>): Response {
  return new Response(null, { status, headers: { ...headers, location } });
}

function error(status: number, code: string, message: string): Response {
  return new Response(JSON.stringify({ error: message }), {
    status,
    headers: { 'x-error-code': code, 'x-error-message': message },
  });
}
