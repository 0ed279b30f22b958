import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defaultThreads } from '../../shared/threads.js';
import type { Platform } from '../../worker/host/platform.js';

/**
 * Is `fetch`, and answers a `file:` URL with the file, or a range of it, as a server would: 404 if there is no such
 * file. Only a model that the app itself has named by a path has such URLs: an archive can name no file outside of
 * its own folder, and `fetch` follows no redirect to a file.
 */
export const fetchLocal: typeof fetch = async (input, init) => {
  const url = new URL(input instanceof Request ? input.url : input);
  if (url.protocol !== 'file:') return await fetch(input, init).catch(withCause);
  init?.signal?.throwIfAborted();
  const path = fileURLToPath(url);
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) return new Response(null, { status: 404 });
  const headers = { 'content-length': String(found.size), 'content-type': 'application/octet-stream' };
  const file = await openAsBlob(path);
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(new Headers(init?.headers).get('range') ?? '') ?? [];
  if (first === undefined) return new Response(file, { headers });
  const part = file.slice(Number(first), Number(last) + 1);
  const range = `bytes ${first}-${Number(first) + part.size - 1}/${found.size}`;
  return new Response(part, { status: 206, headers: { 'content-type': file.type, 'content-range': range } });
};

/** Adds the reason to Node's "fetch failed": such as that a host is not known. It is the error's cause. */
function withCause(error: unknown): never {
  const { cause } = error as { readonly cause?: { readonly message?: string; readonly code?: string } };
  const reason = cause?.message || cause?.code; // an AggregateError of several addresses has no message
  throw error instanceof TypeError && reason ? new TypeError(`${error.message}: ${reason}`, { cause: error }) : error;
}

/** What a worker thread has instead of the APIs of a Web Worker. */
export const nodePlatform: Platform = {
  probe: async () => ({
    webgpu: { available: false, reason: 'Node has no WebGPU.' },
    webgl: { available: false, reason: 'Node has no WebGL.' },
    webnn: { available: false, reason: 'Node has no WebNN.' },
    wasm: { available: true, simd: true, jspi: 'Suspending' in WebAssembly, threads: false },
    crossOriginIsolated: false,
    cores: availableParallelism(),
  }),
  threads: (candidate, wanted, maxWorkers) =>
    candidate === 'onnx/cpu' ? (wanted ?? defaultThreads(availableParallelism(), maxWorkers)) : 1,
  fetch: fetchLocal,
};
