import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.json': 'application/json',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.wasm': 'application/wasm',
};

/** As strict as an app may be that compiles WebAssembly. */
export const POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'";

export interface Site extends AsyncDisposable {
  readonly origin: string;
  /** What was sent, by its path. */
  readonly sent: ReadonlyMap<string, Buffer>;
  /** Paths for which there is no file. */
  readonly missing: ReadonlySet<string>;
}

/** Serves folders as a static host would, the first that has the file. */
export async function serve(
  folders: readonly string[],
  { isolated = false, cors = false, policy = POLICY } = {},
): Promise<Site> {
  const sent = new Map<string, Buffer>();
  const missing = new Set<string>();
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://x').pathname);
    const file = normalize(path.endsWith('/') ? `${path}index.html` : path);
    if (policy) response.setHeader('Content-Security-Policy', policy);
    if (cors) response.setHeader('Access-Control-Allow-Origin', '*');
    if (isolated) response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
    if (isolated) response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
    if (path === '/favicon.ico') return void response.writeHead(204).end();
    void readFirst(folders.map((folder) => join(folder, file))).then((body) => {
      if (!body) {
        missing.add(path);
        return response.writeHead(404, { 'Content-Type': 'text/plain' }).end('Not found');
      }
      sent.set(path, body);
      return response.writeHead(200, { 'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream' }).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent,
    missing,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readFirst(files: readonly string[]): Promise<Buffer | undefined> {
  for (const file of files) {
    const body = await readFile(file).catch(() => undefined);
    if (body) return body;
  }
  return undefined;
}
