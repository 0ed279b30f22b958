import { describeValue } from '../../contract/describe-value.js';
import { abortError } from '../../shared/abort.js';
import { withinLimit } from '../../shared/limit.js';
import { badRequest, ServingError } from '../serving-error.js';
import type { FrontDoor } from './front-door.js';

/** The most fields of a form, and the most values in base64 of a JSON body: each costs far more than its bytes. */
const MOST_FIELDS = 1000;
const MOST_BLOBS = 1000;

type Limits = Pick<FrontDoor, 'clock' | 'maxRequestSize' | 'timeout'>;

/** Reads a request's body. @throws `invalid-input` if it is too large, or ends early; `timeout`; `aborted` */
export async function readBytes(request: Request, { clock, maxRequestSize, timeout }: Limits): Promise<ArrayBuffer> {
  const { signal } = request;
  if (Number(request.headers.get('content-length') ?? 0) > maxRequestSize) throw tooLarge(maxRequestSize);
  const stop = new AbortController();
  try {
    const limit = { milliseconds: timeout, clock, signal };
    const bytes = await withinLimit("The request's body", () => readUpTo(request, maxRequestSize, stop.signal), limit);
    if (bytes.byteLength > maxRequestSize) throw tooLarge(maxRequestSize);
    return bytes;
  } finally {
    stop.abort();
  }
}

/** Throws as soon as there is too much. @param stop aborts when nobody waits for the body any more */
async function readUpTo(request: Request, limit: number, stop: AbortSignal): Promise<ArrayBuffer> {
  try {
    // Firefox has no stream of a request's body.
    if (!request.body) return await request.arrayBuffer();
    const parts: Uint8Array<ArrayBuffer>[] = [];
    let size = 0;
    const reader = request.body.getReader();
    stop.addEventListener('abort', () => void reader.cancel().catch(() => {}));
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return await new Blob(parts).arrayBuffer();
      parts.push(value);
      size += value.byteLength;
      if (size > limit) throw tooLarge(limit);
    }
  } catch (cause) {
    if (cause instanceof ServingError) throw cause;
    if (request.signal.aborted) throw abortError(request.signal);
    throw badRequest("The request's body could not be read to its end.", cause);
  }
}

function tooLarge(limit: number): ServingError {
  const message = `The request's body has more than ${limit} bytes (maxRequestSize).`;
  return new ServingError('invalid-input', 413, 'RequestEntityTooLargeException', message);
}

/**
 * Reads a request's input as TorchServe does: a body of one value, or a form with fields, of which a handler takes `data` or `body`.
 *
 * | Content-Type | input |
 * |---|---|
 * | `application/json` | the parsed value |
 * | `text/…` | a string |
 * | `multipart/form-data`, `application/x-www-form-urlencoded` | an object with the fields; each by its own type; a list where a name comes several times |
 * | anything else, or none | a Blob of that type |
 *
 * In JSON, `{ "b64": "…" }` is a Blob with these bytes.
 * @throws `invalid-input` for a body that is not what its type says, and what `readBytes` throws
 */
export async function readInput(request: Request, limits: Limits): Promise<unknown> {
  const type = request.headers.get('content-type') ?? '';
  const bytes = await readBytes(request, limits);
  const isForm = /^\s*(multipart\/form-data|application\/x-www-form-urlencoded)\b/i.test(type);
  return isForm ? await readForm(bytes, type) : await readValue(new Blob([bytes], { type }));
}

/** Reads a body that must be JSON. @throws `invalid-input`, and what `readBytes` throws */
export async function readJson(request: Request, limits: Limits): Promise<unknown> {
  return parseJson(new TextDecoder().decode(await readBytes(request, limits)));
}

async function readForm(bytes: ArrayBuffer, type: string): Promise<Readonly<Record<string, unknown>>> {
  let form: FormData;
  try {
    form = await new Response(bytes, { headers: { 'Content-Type': type } }).formData();
  } catch (cause) {
    throw badRequest(`The body is not what its type says, ${type.slice(0, 100)}.`, cause);
  }
  const entries = [...form.entries()];
  if (entries.length > MOST_FIELDS)
    throw badRequest(`The form has ${entries.length} fields, expected at most ${MOST_FIELDS}.`);
  const values = new Map<string, (Blob | string)[]>();
  for (const [name, value] of entries) {
    const all = values.get(name);
    if (all) all.push(value);
    else values.set(name, [value]);
  }
  if (values.size === 0) throw badRequest('The form has no fields; its input belongs into the field "data".');
  const fields = [...values].map(async ([name, all]) => {
    const read = await Promise.all(all.map((value) => (typeof value === 'string' ? value : readValue(value))));
    return [name, read.length > 1 ? read : read[0]] as const;
  });
  return Object.fromEntries(await Promise.all(fields));
}

async function readValue(blob: Blob): Promise<unknown> {
  if (/^application\/([\w.-]+\+)?json\b/i.test(blob.type)) return parseJson(await blob.text());
  return /^text\//i.test(blob.type) ? await blob.text() : blob;
}

function parseJson(text: string): unknown {
  let blobs = 0;
  try {
    return JSON.parse(text, (_, value: unknown) => {
      const bytes = bytesOf(value);
      if (bytes && ++blobs > MOST_BLOBS) throw badRequest(`The body has more than ${MOST_BLOBS} values in base64.`);
      return bytes ?? value;
    });
  } catch (cause) {
    if (cause instanceof ServingError) throw cause;
    throw badRequest(`The body is not JSON: ${cause instanceof Error ? cause.message : describeValue(cause)}`, cause);
  }
}

/** Returns the bytes of TensorFlow Serving's `{ b64 }`, which TorchServe's JSON envelope reads too; undefined for any other value. */
function bytesOf(value: unknown): Blob | undefined {
  if (typeof value !== 'object' || value === null || !('b64' in value) || Object.keys(value).length > 1)
    return undefined;
  return blobOf(value.b64);
}

/** Returns the bytes of a text in base64, which may be a `data:` URL. @throws `invalid-input` */
export function blobOf(text: unknown): Blob {
  try {
    if (typeof text !== 'string') throw new TypeError('no string');
    const base64 = text.replace(/^data:[^,]*;base64,/, '').replaceAll('-', '+').replaceAll('_', '/'); // prettier-ignore
    return new Blob([Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))]);
  } catch (cause) {
    throw badRequest(`Expected bytes as a string in base64, got ${describeValue(text)}.`, cause);
  }
}
