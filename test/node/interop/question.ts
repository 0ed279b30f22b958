/** A request that is sent to a real server and to ours, and how the two answers are compared. */
export interface Question {
  readonly title: string;
  readonly method?: string;
  /** `{NAME}` stands for the location of the archive of this name. */
  readonly path: string;
  /** Whether the path belongs to the management API, which TorchServe has on a port of its own. */
  readonly management?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Sent at the same time as its neighbors of this batch. */
  readonly batch?: string;
  /** Keys of the JSON that are not compared: what differs from run to run, and what only one of the two has. */
  readonly without?: readonly string[];
  /** Whether only every 97th item of long lists is compared, so that the recorded answer stays small. */
  readonly sampled?: boolean;
  /** Whether the order of lists means nothing. */
  readonly unordered?: boolean;
  /** What our answer has instead of the real server's, and why. */
  readonly ours?: Partial<Answer> & { readonly why: string };
}

/** What clients read of an answer. */
export interface Answer {
  readonly status: number;
  /** The content type; null if the answer has none. */
  readonly type: string | null;
  readonly hasRequestId: boolean;
  /** A header that a handler sets. */
  readonly own?: string;
  /** The headers of a sequence, of a stateful handler. An id that is not the request's is "a new one". */
  readonly sequence?: Readonly<Record<string, string>>;
  /** The parsed JSON, a text, or bytes in hexadecimal with "0x" before them. */
  readonly body: unknown;
  /** Whether the body broke off before its end. */
  readonly isBroken?: true;
}

/** Where a server is. */
export interface Asked {
  readonly inference: string;
  readonly management: string;
  /** Returns the location of an archive, as the server takes it. */
  readonly archive: (name: string) => string;
}

/** Sends a request, and returns what clients read of the answer. */
export async function ask(server: Asked, question: Question): Promise<Answer> {
  const { path, management = false, method = 'POST', headers = {}, body } = question;
  const url = `${management ? server.management : server.inference}${path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(server.archive(name)))}`;
  // Bytes: for a string, fetch would add a content type.
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const init = { method, headers, ...(bytes && { body: new Uint8Array(bytes) }) };
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(60_000) });
  const own = response.headers.get('x-own');
  const { received, isBroken } = await receive(response);
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    hasRequestId: response.headers.has('x-request-id'),
    ...(own !== null && { own }),
    ...(path.endsWith('/summing') && { sequence: sequenceOf(response, headers) }),
    body: prepared(readBody(received, response.headers), question),
    ...(isBroken && { isBroken }),
  };
}

/** The beginning of the names of the headers of a sequence. */
const SEQUENCE = 'ts_request_sequence_';

function sequenceOf(response: Response, asked: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const found = ['id', 'start', 'end'].flatMap((name) => {
    const value = response.headers.get(SEQUENCE + name);
    return value === null ? [] : [[name, value] as const];
  });
  const { id, ...rest } = Object.fromEntries(found) as Record<string, string>;
  if (id === undefined) return rest;
  return { id: id === asked[`${SEQUENCE}id`] ? id : 'a new one', ...rest };
}

/** Asks questions in their order, those of a batch at the same time, and returns the answers by title. */
export async function askAll(server: Asked, questions: readonly Question[]): Promise<Record<string, Answer>> {
  const answers: Record<string, Answer> = {};
  for (let at = 0; at < questions.length;) {
    const { batch } = questions[at]!;
    const end = batch === undefined ? at + 1 : questions.findLastIndex((question) => question.batch === batch) + 1;
    const together = questions.slice(at, end);
    const given = await Promise.all(together.map((question) => ask(server, question)));
    together.forEach(({ title }, index) => (answers[title] = given[index]!));
    at = end;
  }
  return answers;
}

/** Returns what arrives of a body. */
async function receive({ body }: Response): Promise<{ received: Uint8Array; isBroken?: true }> {
  const parts: Uint8Array[] = [];
  try {
    if (body) for await (const part of body) parts.push(part);
  } catch {
    return { received: Buffer.concat(parts), isBroken: true };
  }
  return { received: Buffer.concat(parts) };
}

/** Returns the body; that of the binary tensor extension as its JSON and its bytes. */
function readBody(bytes: Uint8Array, headers: Headers): unknown {
  const length = headers.get('inference-header-content-length');
  if (length === null) return read(bytes);
  const [json, tensors] = [bytes.subarray(0, Number(length)), bytes.subarray(Number(length))];
  return { json: read(json), bytes: Buffer.from(tensors).toString('hex') };
}

function read(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return `0x${Buffer.from(bytes).toString('hex')}`;
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function prepared(value: unknown, { sampled = false, unordered = false, without: keys = [] }: Question): unknown {
  const kept = without(sampled ? sample(value) : value, keys);
  return unordered ? sorted(kept) : kept;
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (!Array.isArray(value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, sorted(item)]));
  return value.map(sorted).sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
}

/** Returns the length of a long list, and every 97th of its items. */
function sample(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  if (value.length < 97) return value.map(sample);
  return { length: value.length, items: value.filter((_, at) => at % 97 === 0).map(sample) };
}

function without(value: unknown, keys: readonly string[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => without(item, keys));
  const kept = Object.entries(value).filter(([key]) => !keys.includes(key));
  return Object.fromEntries(kept.map(([key, item]) => [key, without(item, keys)]));
}

/** How far two numbers may be from one another. */
const TOLERANCE = 1e-5;

/** Lists in what two answers differ: in a number by more than the tolerance, in a key or in the order of keys. */
export function differences(real: unknown, ours: unknown, path = ''): readonly string[] {
  if (typeof real === 'number' && typeof ours === 'number' && Math.abs(real - ours) <= TOLERANCE) return [];
  if (typeof real !== 'object' || typeof ours !== 'object' || real === null || ours === null)
    return Object.is(real, ours) ? [] : [`${path}: ${JSON.stringify(real)} there, ${JSON.stringify(ours)} here`];
  const [theirKeys, ourKeys] = [Object.keys(real), Object.keys(ours)];
  if (Array.isArray(real) !== Array.isArray(ours) || theirKeys.join() !== ourKeys.join())
    return [`${path}: the keys ${theirKeys.join()} there, ${ourKeys.join()} here`];
  return theirKeys.flatMap((key) =>
    differences((real as Record<string, unknown>)[key], (ours as Record<string, unknown>)[key], `${path}/${key}`),
  );
}
