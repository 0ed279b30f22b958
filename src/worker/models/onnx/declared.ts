/** What a model on a server declares, read from the ends of its file. */
import { TabServeError } from '../../../contract/errors.js';
import { discard, type RequestExtras } from '../../../shared/request-policy.js';
import { fields } from './protobuf.js';
import { encode, encodeNumber, join } from './protobuf-writer.js';

/** Requests a file. */
export type RequestUrl = (url: URL, extra: RequestExtras) => Promise<Response>;

/** This part has the version of the format, which is the first field. */
const HEAD_BYTES = 16;
/** This part has inputs and outputs, which follow the weights; in many models they have a few hundred bytes. */
const TAIL_BYTES = 2 ** 18;
/** An older model lists its weights among its inputs. */
const MIN_VERSION = 4;
/** Fields of GraphProto after the weights, and of ModelProto after the graph. Numbers: `onnx.proto` of ONNX (IR version 10). */
const [INPUT, OUTPUT, OPSET, METADATA] = [11, 12, 8, 14];
const AFTER_WEIGHTS: ReadonlySet<number> = new Set([INPUT, OUTPUT, 13, 14, 15]);
const AFTER_GRAPH: ReadonlySet<number> = new Set([OPSET, METADATA, 20, 25]);

/** A server that sends no ranges sends a file of at most this size as a whole. */
const WHOLE_BYTES = 2 ** 24;

/**
 * Returns an ONNX model without nodes and weights, only with the inputs, outputs and metadata of one on a server. Two ranges of
 * the file are requested, together at most 256 kB. From a server that sends no ranges, returns a file of at most 16 MB.
 * @returns undefined for a larger one, and if the ends of the file do not show inputs and outputs
 * @throws what `request` throws
 */
export async function fetchDeclared(
  url: URL,
  request: RequestUrl,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const head = await fetchRange(url, 0, HEAD_BYTES - 1, request, signal);
  if (!head || versionOf(head.bytes) === 0) return undefined;
  if (head.bytes.length === head.size) return head.bytes;
  if (versionOf(head.bytes) < MIN_VERSION) return undefined;
  const first = Math.max(0, head.size - TAIL_BYTES);
  const tail = await fetchRange(url, first, head.size - 1, request, signal);
  return tail && declaredIn(tail.bytes);
}

async function fetchRange(
  url: URL,
  first: number,
  last: number,
  request: RequestUrl,
  signal: AbortSignal,
): Promise<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly size: number } | undefined> {
  // A file server of another origin may refuse to be asked for a range, as those of the Hub do.
  const response = await request(url, { headers: { range: `bytes=${first}-${last}` }, signal }).catch(
    async (error: unknown) => {
      if (signal.aborted || error instanceof TabServeError) throw error;
      return await request(url, { signal });
    },
  );
  const [, size] = /^bytes \d+-\d+\/(\d+)$/.exec(response.headers.get('content-range') ?? '') ?? [];
  if (response.status === 206 && size !== undefined)
    return { bytes: new Uint8Array(await response.arrayBuffer()), size: Number(size) };
  // All of the file, which may be large.
  if (response.ok && Number(response.headers.get('content-length') ?? Infinity) <= WHOLE_BYTES) {
    const bytes = new Uint8Array(await response.arrayBuffer());
    return { bytes, size: bytes.length };
  }
  discard(response);
  return undefined;
}

function versionOf(head: Uint8Array): number {
  const [tag, version = 0] = head;
  return tag === 8 ? version : 0;
}

/**
 * Returns a model with the inputs and outputs at the end of a file. Their position is not known. It is the first one
 * from which only the fields that may be there lead to the file's end.
 */
export function declaredIn(tail: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  // Positions from which nothing leads to the end, so that no position is tried twice, whatever the weights are.
  const failed = new Set<string>();
  for (let at = tail.indexOf(INPUT * 8 + 2); at >= 0; at = tail.indexOf(INPUT * 8 + 2, at + 1)) {
    const found = ends(tail.subarray(at), failed);
    if (found) return join([...encodeNumber(1, MIN_VERSION), ...encode(7, found.graph), ...found.metadata]);
  }
  return undefined;
}

/** Returns the inputs and outputs, and the metadata, if the bytes are the end of a graph, and then that of a model. */
function ends(bytes: Uint8Array, failed: Set<string>): Record<'graph' | 'metadata', readonly Uint8Array[]> | undefined {
  const graph: Uint8Array[] = [];
  const metadata: Uint8Array[] = [];
  const positions: string[] = [];
  let isAfter = false;
  let hasOutput = false;
  try {
    for (const { field, value, whole } of fields(bytes)) {
      isAfter ||= field === OPSET;
      const position = `${isAfter} ${whole.byteOffset}`;
      positions.push(position);
      if (failed.has(position) || !(isAfter ? AFTER_GRAPH : AFTER_WEIGHTS).has(field)) throw new RangeError('no end');
      hasOutput ||= field === OUTPUT;
      if (!isAfter && (field === INPUT || field === OUTPUT)) {
        if (!isValue(value)) throw new RangeError('no value');
        graph.push(whole);
      }
      if (isAfter && field === METADATA) metadata.push(whole);
    }
    if (isAfter && hasOutput) return { graph, metadata };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  for (const position of positions) failed.add(position);
  return undefined;
}

/** Returns whether these bytes begin with a name and a type, as an input or an output does: random weights rarely do. */
function isValue(bytes: number | Uint8Array): boolean {
  if (typeof bytes === 'number') return false;
  const [name, type] = fields(bytes);
  return name?.field === 1 && type?.field === 2;
}
