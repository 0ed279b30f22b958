import { describeValue } from '../../contract/describe-value.js';
import { dtypeInfo, dtypesBy } from '../../contract/dtypes.js';
import type { Tensor } from '../../contract/tensors.js';
import { TabServeError } from '../../contract/errors.js';
import { MAX_METADATA_BYTES } from '../../contract/limits.js';
import { isRecord } from '../../shared/schema.js';

const DTYPES = dtypesBy(({ safetensors }) => (safetensors === undefined ? [] : [safetensors]));

export interface Safetensors {
  readonly tensors: Readonly<Record<string, Tensor>>;
  /** `__metadata__`: text by key. */
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * Reads a `.safetensors` file: the header's length as a 64-bit little-endian number, a JSON header, then the tensors'
 * bytes, little-endian and row-major, one after the other without overlaps or gaps. Format:
 * huggingface.co/docs/safetensors.
 * @throws `model-format` if it is damaged or holds a dtype that is not known
 */
export function readSafetensors(bytes: Uint8Array, name: string): Safetensors {
  const damaged = (why: string, cause?: unknown): TabServeError =>
    new TabServeError('model-format', `${name} is no safetensors file: ${why}.`, { cause });
  if (bytes.length < 8) throw damaged('it is too short');
  const headerLength = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
  if (headerLength > bytes.length - 8) throw damaged('its header runs past the end');
  if (headerLength > MAX_METADATA_BYTES)
    throw damaged(`its header has ${headerLength} bytes, and may have ${MAX_METADATA_BYTES}`);
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + headerLength)));
  } catch (cause) {
    throw damaged('its header is not JSON', cause);
  }
  if (!isRecord(header)) throw damaged('its header is no mapping');
  const { __metadata__: metadata = {}, ...entries } = header;
  if (!isRecord(metadata)) throw damaged('its __metadata__ is no mapping of keys to text');
  for (const [key, text] of Object.entries(metadata))
    if (typeof text !== 'string') throw damaged(`__metadata__ has under "${key}" no text, but ${describeValue(text)}`);
  const data = bytes.subarray(8 + headerLength);
  const inOrder = Object.entries(entries).map(([key, entry]) => {
    if (!isEntry(entry)) throw damaged(`"${key}" has no dtype, shape and data_offsets`);
    return [key, entry] as const;
  });
  inOrder.sort(([, a], [, b]) => a.data_offsets[0] - b.data_offsets[0] || a.data_offsets[1] - b.data_offsets[1]);
  let end = 0;
  const tensors = inOrder.map(([key, entry]) => {
    const {
      dtype: code,
      shape: dims,
      data_offsets: [from, to],
    } = entry;
    const dtype = DTYPES.get(code);
    const array = dtype && dtypeInfo(dtype)?.array;
    if (!array) throw damaged(`"${key}" is of dtype ${code}, expected one of ${[...DTYPES.keys()].join(', ')}`);
    const size = dims.reduce((product, dim) => product * dim, array.BYTES_PER_ELEMENT);
    if (to - from !== size)
      throw damaged(`"${key}" has ${to - from} bytes, its shape [${dims.join(', ')}] needs ${size}`);
    if (to > data.length) throw damaged(`"${key}" runs past the end`);
    if (from !== end)
      throw damaged(`"${key}" begins at byte ${from} of the data, and the tensor before it ends at ${end}`);
    end = to;
    return [key, { dtype, dims, data: new array(new Uint8Array(data.subarray(from, to)).buffer) }] as const;
  });
  if (end < data.length) throw damaged(`no tensor has its last ${data.length - end} bytes`);
  return { tensors: Object.fromEntries(tensors), metadata: metadata as Record<string, string> };
}

interface Entry {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}

function isEntry(entry: unknown): entry is Entry {
  if (!isRecord(entry)) return false;
  const { dtype, shape, data_offsets: offsets } = entry;
  return typeof dtype === 'string' && areCounts(shape) && areCounts(offsets) && offsets.length === 2;
}

/** Returns whether a value is a list of whole numbers, none of them negative. */
export function areCounts(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((one) => Number.isSafeInteger(one) && one >= 0);
}
