import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, extname, join, normalize, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { ENGINE_FILES } from '../cli/copy.js';
import { LEFT_OUT } from '../cli/archive-files.js';
import { folderName } from '../cli/local-archive.js';

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
};

/** A server on this machine alone. */
export interface Site extends AsyncDisposable {
  /** URL of an empty page. */
  readonly url: string;
  /** URLs relative to `url`: the script of the standalone build, the archive, and the files of the input. */
  readonly client: string;
  readonly archive: string;
  readonly inputs: readonly string[];
}

/**
 * Serves an archive, the standalone build and the engines' files to an isolated page, at a random port of 127.0.0.1,
 * under a path that nobody can guess.
 * @param path of a packed archive or a folder
 * @param inputs the bytes of files, for the handler
 */
export async function serveArchive(path: string, inputs: readonly Uint8Array[] = []): Promise<Site> {
  const build = fileURLToPath(new URL('../../standalone/', import.meta.url));
  const engines = new Map(ENGINE_FILES.map((file) => [basename(file), file]));
  const isFolder = (await stat(path)).isDirectory();
  const root = isFolder ? await findRoot(resolve(path)) : resolve(path);
  const name = isFolder ? folderName(root) : basename(root);
  const secret = `/${randomUUID()}/`;

  /** Returns the file for a path below `secret`. */
  const find = (wanted: string): string | undefined => {
    const [place = '', ...others] = wanted.split('/');
    const file = normalize(others.join('/'));
    if (/^\.\.([/\\]|$)/.test(file)) return undefined;
    if (place === 'tabserve') {
      const engine = engines.get(file);
      return engine === undefined ? join(build, file) : fileURLToPath(import.meta.resolve(engine));
    }
    if (place !== 'archive') return undefined;
    return isFolder && file.startsWith(normalize(`${name}/`))
      ? join(root, file.slice(name.length + 1))
      : file === name
        ? root
        : undefined;
  };

  const answer = async (path: string, response: ServerResponse): Promise<void> => {
    if (path === '')
      return void response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>TabServe</title>');
    const input = /^input\/\d+$/.test(path) ? inputs[Number(path.slice('input/'.length))] : undefined;
    if (input) return void response.end(input);
    const file = find(path);
    const found = file === undefined ? undefined : await stat(file).catch(() => undefined);
    if (!found?.isFile())
      return void response.writeHead(404, { 'Content-Type': 'text/plain' }).end('There is no such file.');
    response.setHeader('Content-Type', TYPES[extname(file!)] ?? 'application/octet-stream');
    response.setHeader('Content-Length', found.size);
    await pipeline(createReadStream(file!), response);
  };

  const server = createServer((request, response) => {
    // Threads need isolation.
    response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
    response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
    const [path = ''] = (request.url ?? '').split('?');
    // A browser that goes away in the middle of a file is no error here.
    answer(path.startsWith(secret) ? decode(path.slice(secret.length)) : 'nothing', response).catch(() =>
      response.destroy(),
    );
  });
  await new Promise<void>((listening, failed) => server.once('error', failed).listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${secret}`,
    client: 'tabserve/tabserve.js',
    archive: `archive/${encodeURIComponent(name)}${isFolder ? '/' : ''}`,
    inputs: inputs.map((_, index) => `input/${index}`),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** Returns the folder of the archive: the given one, or the only folder in it. */
async function findRoot(folder: string): Promise<string> {
  const entries = (await readdir(folder)).filter((name) => !LEFT_OUT.test(name));
  const [only] = entries;
  if (only === undefined || entries.length > 1) return await realpath(folder);
  const inner = join(folder, only);
  return (await stat(inner)).isDirectory() ? inner : folder;
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
