import { TabServeError } from '../../contract/errors.js';
import type { Tensor } from '../../contract/tensors.js';
import { fromFloat16 } from '../../worker/tensors/float16.js';
import type { ServedClient } from '../served-client.js';
import type { ServedVersion } from '../served-version.js';
import { response } from './responses.js';
import type { HttpResponse } from './messages.js';

/**
 * Returns a response with a handler's result: a string as text, a Blob or a Uint8Array as bytes, and everything else as
 * JSON, in which tensors are lists in lists, other arrays of numbers, of bytes too, and sets are lists, a Map is an
 * object, a 64-bit integer is a number if a number can hold it and else a string, and NaN and infinity are null.
 * @param maxResponseSize bytes
 * @throws `handler-failed` if something in it has no such form, a Blob say, and if it is larger than that
 */
export function resultResponse(result: unknown, maxResponseSize = Infinity): HttpResponse {
  const [body, type] = bodyOf(result);
  checkSize(body, maxResponseSize);
  return response(body, type);
}

/** @throws `handler-failed` for a body of more than `maxResponseSize` bytes */
export function checkSize(body: string | Blob | BufferSource, maxResponseSize: number): void {
  // A character has one byte at least, and three at most.
  const mayBeTooLarge = typeof body === 'string' ? body.length * 3 > maxResponseSize : true;
  if (mayBeTooLarge && sizeOf(body) > maxResponseSize)
    throw new TabServeError(
      'handler-failed',
      `The answer has ${sizeOf(body)} bytes, more than the server sends: ${maxResponseSize} (maxResponseSize).`,
    );
}

function bodyOf(result: unknown): readonly [body: string | Blob | BufferSource, type: string] {
  if (typeof result === 'string') return [result, 'text/plain; charset=utf-8'];
  if (result instanceof Blob) return [result, result.type || 'application/octet-stream'];
  if (result instanceof ArrayBuffer || result instanceof Uint8Array)
    return [result as BufferSource, 'application/octet-stream'];
  return [JSON.stringify(toJson(result) ?? null), 'application/json'];
}

function sizeOf(body: string | Blob | BufferSource): number {
  if (typeof body === 'string') return new TextEncoder().encode(body).byteLength;
  return body instanceof Blob ? body.size : body.byteLength;
}

/**
 * Returns a response whose body is sent in parts, as the handler makes them. Strings follow one another as they are;
 * anything else is a line of JSON. The first part is awaited, so that a request that fails before it has an error as
 * its answer; a later failure breaks off the body.
 * @param open sends the request. Its signal aborts when nobody reads the body any more
 * @param type the body's, if it is not that of text or of lines of JSON
 */
export async function streamResponse(
  served: ServedVersion,
  open: (client: ServedClient, signal: AbortSignal) => Promise<AsyncIterable<unknown>>,
  requestSignal: AbortSignal,
  type?: string,
): Promise<HttpResponse> {
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
            controller.enqueue(encode(next.value, isText, type !== undefined));
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
    // A reverse proxy, and a service worker, would wait for the whole answer.
    return response(body, type ?? (isText ? 'text/plain; charset=utf-8' : 'application/x-ndjson'), 200, UNBUFFERED);
  } catch (error) {
    end();
    throw error;
  }
}

const UNBUFFERED = { 'X-Accel-Buffering': 'no' };

/** @param isTyped whether the caller has made the parts for a type, so that bytes are the body's own */
function encode(part: unknown, isText: boolean, isTyped: boolean): Uint8Array {
  if (isTyped && part instanceof Uint8Array) return part;
  const text = isText && typeof part === 'string' ? part : `${JSON.stringify(toJson(part) ?? null)}\n`;
  return new TextEncoder().encode(text);
}

/** Returns a result as data that JSON can hold. @throws `handler-failed` if there is none */
export function toJson(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  // A date becomes its text.
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (isTensor(value)) return nested(value);
  if (value instanceof ArrayBuffer) return toJson(new Uint8Array(value));
  const isMap = value instanceof Map;
  if (!isMap && Symbol.iterator in value) return Array.from(value as Iterable<unknown>, (item) => toJson(item) ?? null);
  const entries = isMap ? [...value] : Object.entries(value);
  const name = (value.constructor as Function | undefined)?.name ?? 'Object';
  // An object of such a class hides its contents.
  if (!isMap && entries.length === 0 && name !== 'Object')
    throw new TabServeError('handler-failed', `The result has a ${name}, which JSON cannot hold.`);
  return Object.fromEntries(entries.map(([key, item]) => [key, toJson(item)]));
}

function isTensor(value: object): value is Tensor {
  return 'dtype' in value && 'dims' in value && 'data' in value && Array.isArray(value.dims);
}

/** Returns a tensor as lists in lists: PyTorch's `tolist`. */
function nested(tensor: Tensor): unknown {
  const { dims } = tensor;
  let items = elements(tensor);
  if (dims.length === 0) return items[0];
  for (let axis = dims.length - 1; axis > 0; axis--) {
    const [all, size] = [items, dims[axis]!];
    const lists = dims.slice(0, axis).reduce((product, dim) => product * dim, 1);
    items = Array.from({ length: lists }, (_, at) => all.slice(at * size, (at + 1) * size));
  }
  return items;
}

function elements({ dtype, data }: Tensor): readonly unknown[] {
  if (dtype === 'bool') return Array.from(data as Uint8Array, (bit) => bit !== 0);
  return listOf(dtype === 'float16' ? fromFloat16(data as Uint16Array) : data);
}

function listOf(data: Iterable<unknown>): readonly unknown[] {
  return Array.from(data, (item) => (typeof item === 'bigint' ? toJson(item) : item));
}
