import { discard } from '../../shared/request-policy.js';
import type { EngineEnvironment } from '../engine.js';
import { describeAnswer } from '../wasm-module.js';

/**
 * Returns how many threads ONNX Runtime can start: one, with a warning, if the browser does not take the script of its threads as the server sends it.
 * ONNX Runtime would fail, for good in this worker.
 */
export async function usableThreads(
  wanted: number,
  script: () => URL,
  { fetch = globalThis.fetch, warn }: Pick<EngineEnvironment, 'fetch' | 'warn'>,
): Promise<number> {
  if (wanted === 1) return 1;
  const url = script();
  const why = await whyRefused(url, fetch);
  if (why === undefined) return wanted;
  warn?.(
    `ONNX Runtime computes with 1 thread in place of ${wanted}: the script of its threads, ${url.href}, could not be loaded: ${why}. The server must send it as text/javascript.`,
  );
  return 1;
}

/** Returns why a script cannot be loaded; undefined if it can. */
async function whyRefused(url: URL, fetch: typeof globalThis.fetch): Promise<string | undefined> {
  let refusal: Error | undefined;
  try {
    // ONNX Runtime imports a script of this origin, and then gets this module. It fetches one of another origin, and imports a Blob of the same content type.
    if (url.origin === globalThis.location?.origin)
      return void (await import(/* @vite-ignore */ /* webpackIgnore: true */ url.href));
  } catch (cause) {
    refusal = cause as Error;
  }
  try {
    const response = await fetch(url, { credentials: 'same-origin' });
    discard(response);
    const isScript = response.ok && /javascript/i.test(response.headers.get('content-type') ?? '');
    return isScript ? refusal?.message : describeAnswer(response);
  } catch (cause) {
    return (cause as Error).message;
  }
}
