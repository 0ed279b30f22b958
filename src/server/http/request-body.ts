import { describeValue } from '../../contract/describe-value.js';
import { abortError } from '../../shared/abort.js';
import { whyTooCostly } from '../../shared/json-cost.js';
import { GrowingBytes } from '../../shared/growing-bytes.js';
import { loadScript } from '../../shared/load-script.js';
import { withinLimit } from '../../shared/limit.js';
import { badRequest, ServingError } from '../serving-error.js';
import { withBlobs } from './base64.js';
import { decodeJson, decodeText } from './decode-text.js';
import type { RouteContext } from './route.js';
import type { HttpRequest } from './messages.js';

type Limits = Pick<RouteContext, 'clock' | 'maxRequestSize' | 'timeout'>;

/**
 * Reads a request's body, and decodes it if it is compressed.
 * @throws `invalid-input` if it is too large, also when it is decoded, or ends early, or is not what its encoding says; `timeout`; `aborted`; what the body's stream
 *   throws, if that is a `ServingError`
 */
export async function readBytes(
  request: HttpRequest,
  { clock, maxRequestSize, timeout }: Limits,
): Promise<ArrayBuffer> {
  const { headers } = request;
  const encoding = (headers.get('content-encoding') ?? 'identity').trim().toLowerCase();
  const decompress = encoding === 'identity' ? undefined : await decompressor(request, encoding, maxRequestSize);
  if (Number(headers.get('content-length') ?? 0) > maxRequestSize) throw tooLarge(maxRequestSize);
  const bytes = request.whole ?? (await receive(request, { clock, maxRequestSize, timeout }));
  if (bytes.byteLength > maxRequestSize) throw tooLarge(maxRequestSize);
  return decompress ? await decompress(bytes) : bytes;
}

async function decompressor(
  request: HttpRequest,
  encoding: string,
  maxRequestSize: number,
): Promise<(bytes: ArrayBuffer) => Promise<ArrayBuffer>> {
  // Few clients compress what they send.
  const { decompressorOf } = await loadScript(() => import('./decompress.js'));
  return decompressorOf(request, encoding, maxRequestSize, () => tooLarge(maxRequestSize));
}

/** Reads the rest of the body. Ends as soon as there is too much. */
async function receive(request: HttpRequest, { clock, maxRequestSize, timeout }: Limits): Promise<ArrayBuffer> {
  const stop = new AbortController();
  try {
    const limit = { milliseconds: timeout, clock, signal: request.signal };
    return await withinLimit("The request's body", () => readUpTo(request, maxRequestSize, stop.signal), limit);
  } catch (error) {
    // Nobody waits for the rest of it.
    stop.abort();
    throw error;
  }
}

/** Throws as soon as there is too much. @param stop aborts when nobody waits for the body any more */
async function readUpTo(request: HttpRequest, maxRequestSize: number, stop: AbortSignal): Promise<ArrayBuffer> {
  try {
    // Firefox has no stream of a request's body.
    if (!request.body) return await request.arrayBuffer();
    const bytes = new GrowingBytes();
    const reader = request.body.getReader();
    stop.addEventListener('abort', () => void reader.cancel().catch(() => {}));
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return bytes.take().buffer;
      bytes.append(value);
      if (bytes.length > maxRequestSize) throw tooLarge(maxRequestSize);
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
 * Reads a request's input as TorchServe does: a body of one value, or a form with fields, of which a handler takes
 * `data` or `body`.
 *
 * | Content-Type | input |
 * |---|---|
 * | `application/json` | the parsed value |
 * | `text/…` | a string, by the charset that is declared; UTF-8 by default |
 * | `multipart/form-data`, `application/x-www-form-urlencoded` | an object with the fields; each by its own type; a list where a name comes several times |
 * | anything else, or none | a Blob of that type |
 *
 * In JSON, `{ "b64": "…" }` is a Blob with these bytes. A GET has no body: its query has the fields.
 * @throws `invalid-input` for a body that is not what its type says, and what `readBytes` throws
 */
export async function readInput(request: HttpRequest, limits: Limits): Promise<unknown> {
  if (hasQueryInput(request)) {
    const fields = new URL(request.url).search.slice(1);
    return await readForm(new TextEncoder().encode(fields).buffer, 'application/x-www-form-urlencoded');
  }
  const type = request.headers.get('content-type') ?? '';
  const bytes = await readBytes(request, limits);
  return isForm(request) ? await readForm(bytes, type) : await readValue(new Blob([bytes], { type }));
}

/** Returns whether a request's input is the fields of a form, or of its query. */
export function isForm(request: HttpRequest): boolean {
  const type = request.headers.get('content-type') ?? '';
  return hasQueryInput(request) || /^\s*(multipart\/form-data|application\/x-www-form-urlencoded)\b/i.test(type);
}

function hasQueryInput({ method, url }: HttpRequest): boolean {
  return method === 'GET' && new URL(url).search !== '';
}

/**
 * Reads a body that must be JSON, without converting it: its route knows which objects stand for bytes.
 * @param ifEmpty what a request without a body means, where it may have none
 * @throws `invalid-input`, and what `readBytes` throws
 */
export async function readJson(request: HttpRequest, limits: Limits, ifEmpty?: object): Promise<unknown> {
  const bytes = await readBytes(request, limits);
  return ifEmpty && bytes.byteLength === 0 ? ifEmpty : parseJson(decodeJson(bytes));
}

async function readForm(bytes: ArrayBuffer, type: string): Promise<Readonly<Record<string, unknown>>> {
  // Most pages never read a form.
  const fieldsOf = await loadScript(async () => (await import('./form.js')).fieldsOf);
  const values = new Map<string, (Blob | string)[]>();
  for (const [name, value] of fieldsOf(bytes, type)) {
    const all = values.get(name);
    if (all) all.push(value);
    else values.set(name, [value]);
  }
  const fields = [...values].map(async ([name, all]) => {
    const read = await Promise.all(all.map((value) => (typeof value === 'string' ? value : readValue(value))));
    return [name, read.length > 1 ? read : read[0]] as const;
  });
  return Object.fromEntries(await Promise.all(fields));
}

async function readValue(blob: Blob): Promise<unknown> {
  if (/^application\/([\w.-]+\+)?json\b/i.test(blob.type))
    return withBlobs(parseJson(decodeJson(await blob.arrayBuffer())), 'The body');
  return /^text\//i.test(blob.type) ? decodeText(await blob.arrayBuffer(), blob.type, 'The body') : blob;
}

function parseJson(text: string): unknown {
  const why = whyTooCostly(text);
  if (why !== undefined) throw badRequest(`The body has ${why}.`);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw badRequest(`The body is not JSON: ${cause instanceof Error ? cause.message : describeValue(cause)}`, cause);
  }
}
