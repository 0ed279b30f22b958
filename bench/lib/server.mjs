import { createReadStream, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, resolve, sep } from 'node:path';
import { setTimeout } from 'node:timers/promises';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};

/**
 * @typedef {object} Line
 * @property {number} bitsPerSecond
 * @property {number} roundTrip milliseconds from a request to the first byte of its answer
 */

/** The most bytes of an answer before it is the next one's turn, and how often the line is served, in milliseconds. */
const TURN_BYTES = 2 ** 14;
const TICK_MS = 2;

/** Returns what sends answers over one line, in turns, as fast as it is. @param {Line} line */
function sender({ bitsPerSecond }) {
  const bytesPerMs = bitsPerSecond / 8000;
  const answers = [];
  let timer;
  let served;
  let room = 0;
  const serveLine = () => {
    const now = performance.now();
    // What was not sent while nothing was there to send is lost.
    room = Math.min(room + (now - served) * bytesPerMs, 10 * TICK_MS * bytesPerMs);
    served = now;
    while (room > 0 && answers.length > 0) {
      const { response, body } = answers.shift();
      response.write(body.subarray(0, TURN_BYTES));
      room -= Math.min(body.length, TURN_BYTES);
      if (body.length > TURN_BYTES) answers.push({ response, body: body.subarray(TURN_BYTES) });
      else response.end();
    }
    if (answers.length > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  return (response, body) => {
    answers.push({ response, body });
    if (timer) return;
    served = performance.now();
    room = 0;
    timer = setInterval(serveLine, TICK_MS);
  };
}

/**
 * Serves folders and single files, cross-origin isolated: only there is the clock finer than 0.1 ms.
 * @param {Readonly<Record<string, string>>} folders by the path that they are served under; the longest that fits is
 *   taken. A file's path does not end with a slash
 * @param {Line} [line] the visitor's, which all answers share. Default: none, so that the files come as fast as this
 *   machine reads them
 * @returns {Promise<{ url: string, close(): void }>}
 */
export function serve(folders, line) {
  const prefixes = Object.keys(folders).sort((a, b) => b.length - a.length);
  const send = line && sender(line);
  const server = createServer(async (request, response) => {
    if (line) await setTimeout(line.roundTrip);
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname);
    const prefix = prefixes.find((one) => path.startsWith(one));
    const root = prefix && resolve(folders[prefix]);
    const rest = prefix && path.slice(prefix.length);
    const file = root && (prefix.endsWith('/') ? resolve(root, rest === '' ? 'index.html' : rest) : root);
    const isServed = file !== undefined && (file === root || file.startsWith(root + sep));
    const size = isServed && statSync(file, { throwIfNoEntry: false });
    if (!size || !size.isFile()) return void response.writeHead(404, { 'Content-Type': 'text/plain' }).end('absent');
    const etag = `"${size.size}-${size.mtimeMs}"`;
    // As a web host sends them: a built file has its hash in its name, and is kept for ever; any other is asked for
    // again.
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
    if (send) send(response, readFileSync(file));
    else createReadStream(file).pipe(response);
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
