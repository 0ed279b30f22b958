/**
 * Builds the browser tests' pages and workers, and serves them with everything else in the repository under its own
 * path. Plain JavaScript: it runs on every Node that we support.
 */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as vite from 'vite';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.mjs': 'text/javascript',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

let building;

/** What the build made, by its path. It begins with the first request: unit tests have none. */
const build = () =>
  (building ??= vite
    .build({ configFile: here('vite.config.ts') })
    .then(
      ({ output }) =>
        new Map(output.map((file) => [`/${file.fileName}`, file.type === 'chunk' ? file.code : file.source])),
    ));

/** A file of `public/` under the path that it is deployed at, or any other file of the repository. */
async function find(path) {
  for (const folder of ['../public', '..']) {
    const file = await readFile(join(here(folder), path)).catch(() => undefined);
    if (file) return file;
  }
  return undefined;
}

createServer(async (request, response) => {
  const { pathname, search } = new URL(request.url, 'http://localhost');
  const path = normalize(pathname);
  // A script may be named by its source.
  const built = (await build()).get(path.replace(/\.tsx?$/, '.js'));
  const body = built ?? (await find(path));
  // Threads need isolation. A page that is opened with `?isolated=no` gets none; a worker in an isolated page must
  // bring its own.
  if (!search.includes('isolated=no')) {
    response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
    response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
  }
  const cleared = new URLSearchParams(search).get('clear');
  if (cleared !== null) response.setHeader('Clear-Site-Data', `"${cleared}"`);
  if (body === undefined)
    return response.writeHead(404, { 'Content-Type': 'text/plain' }).end('There is no such file.');
  const type = TYPES[/\.tsx?$/.test(path) ? '.js' : extname(path)] ?? 'application/octet-stream';
  // What was built does not change while this server runs.
  if (built !== undefined) response.setHeader('Cache-Control', 'max-age=3600');
  return response.writeHead(200, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) }).end(body);
}).listen(Number(process.env.PORT), '127.0.0.1');
