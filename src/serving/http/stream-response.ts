import type { ServedClient } from '../served-client.js';
import type { ServedVersion } from '../served-version.js';
import { response } from './responses.js';
import { toJson } from './result-body.js';

/**
 * Returns a response whose body is sent in parts, as the handler makes them. Strings follow one another as they are; anything else is a line of JSON. The first part is
 * awaited, so that a request that fails before it has an error as its answer; a later failure breaks off the body.
 * @param open sends the request. Its signal aborts when nobody reads the body any more
 */
export async function streamResponse(
  served: ServedVersion,
  open: (client: ServedClient, signal: AbortSignal) => Promise<AsyncIterable<unknown>>,
  requestSignal: AbortSignal,
): Promise<Response> {
  const left = new AbortController();
  const end = served.begin();
  try {
    const parts = await open(served.options.client, AbortSignal.any([requestSignal, left.signal]));
    const reader = parts[Symbol.asyncIterator]();
    let next = await reader.next();
    const isText = typeof next.value === 'string';
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          try {
            if (next.done) {
              controller.close();
              return end();
            }
            controller.enqueue(encode(next.value, isText));
            next = await reader.next();
            if (!next.done) return;
            controller.close();
            end();
          } catch (error) {
            controller.error(error);
            end();
          }
        },
        async cancel(reason) {
          left.abort(reason);
          end();
          await reader.return?.();
        },
      },
      { highWaterMark: 0 },
    );
    return response(body, isText ? 'text/plain; charset=utf-8' : 'application/x-ndjson');
  } catch (error) {
    end();
    throw error;
  }
}

function encode(part: unknown, isText: boolean): Uint8Array {
  const text = isText && typeof part === 'string' ? part : `${JSON.stringify(toJson(part) ?? null)}\n`;
  return new TextEncoder().encode(text);
}
