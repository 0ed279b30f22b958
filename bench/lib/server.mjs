import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, resolve, sep } from 'node:path';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};

/**
 * Serves folders and single files, cross-origin isolated: only there is the clock finer than 0.1 ms.
 * @param {Readonly<Record<string, string>>} folders by the path that they are served under; the longest that fits is taken. A file's path does not end with a slash
 * @returns {Promise<{ url: string, close(): void }>}
 */
export function serve(folders) {
  const prefixes = Object.keys(folders).sort((a, b) => b.length - a.length);
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname);
    const prefix = prefixes.find((one) => path.startsWith(one));
    const root = prefix && resolve(folders[prefix]);
    const rest = prefix && path.slice(prefix.length);
    const file = root && (prefix.endsWith('/') ? resolve(root, rest === '' ? 'index.html' : rest) : root);
    const isServed = file !== undefined && (file === root || file.startsWith(root + sep));
    const size = isServed && statSync(file, { throwIfNoEntry: false });
    if (!size || !size.isFile()) return void response.writeHead(404, { 'Content-Type': 'text/plain' }).end('absent');
    const etag = `"${size.size}-${size.mtimeMs}"`;
    // As a web host sends them: a built file has its hash in its name, and is kept for ever; any other is asked for again.
    const headers = {
      ETag: etag,
      'Cache-Control': path.startsWith('/assets/') ? 'max-age=31536000, immutable' : 'no-cache',
    };
    if (request.headers['if-none-match'] === etag) return void response.writeHead(304, headers).end();
    response.writeHead(200, {
      ...headers,
      'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream',
      'Content-Length': size.size,
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Embedder-Policy': 'require-corp',
    });
    createReadStream(file).pipe(response);
  });
  return new Promise((settle, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () =>
      settle({
        url: `http://127.0.0.1:${server.address().port}/`,
        close: () => (server.close(), server.closeAllConnections()),
      }),
    );
  });
}
