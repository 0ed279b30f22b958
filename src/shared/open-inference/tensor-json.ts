/**
 * The elements of a tensor as JSON: a list, row by row. Lists in lists, one level for each dim, are read as well, since
 * several servers send them.
 */
import { describeValue, shorten } from '../../contract/describe-value.js';
import { DTYPES } from '../../contract/dtypes.js';
import type { DType, Tensor, TensorDataMap } from '../../contract/tensors.js';
import { endOfString } from '../json-cost.js';
import { Fault } from './fault.js';

const FLOATS: ReadonlySet<DType> = new Set(['float32', 'float64']);
const BIG: ReadonlySet<DType> = new Set(['int64', 'uint64']);

/**
 * Writes a tensor's elements as JSON. Every integer keeps all of its digits.
 * @throws `Fault` for float16, and for NaN and infinity, which JSON does not have
 */
export function dataToJson({ dtype, data }: Tensor): string {
  if (dtype === 'float16') throw new Fault('FP16 has no form in JSON: use the binary tensor extension');
  if (dtype === 'string') return JSON.stringify(data);
  if (dtype === 'bool') return JSON.stringify(Array.from(data as Uint8Array, (value) => value !== 0));
  if (FLOATS.has(dtype)) {
    const at = (data as Float32Array).findIndex((value) => !Number.isFinite(value));
    if (at >= 0)
      throw new Fault(
        `the value at ${at} is ${String(data[at])}, which JSON cannot hold: use the binary tensor extension`,
      );
  }
  try {
    return `[${data.join(',')}]`;
  } catch (cause) {
    throw new Fault(`${data.length} elements are too many for JSON: use the binary tensor extension`, { cause });
  }
}

/**
 * Reads a tensor's elements from parsed JSON.
 * @param json as `parseExact` returns it
 * @param size the number of elements that the dims make
 * @throws `Fault` for another number of elements, and for an element that is not of the dtype
 */
export function dataFromJson(json: unknown, dtype: DType, dims: readonly number[], size: number): TensorDataMap[DType] {
  if (dtype === 'float16') throw new Fault('FP16 has no form in JSON');
  if (!Array.isArray(json)) throw new Fault(`its data is ${describeValue(json)}, expected a list`);
  const values = Array.isArray(json[0]) ? flatten(json, dims, 0, []) : (json as readonly unknown[]);
  if (values.length !== size)
    throw new Fault(`it has ${values.length} elements, and its shape [${dims.join(', ')}] needs ${size}`);
  if (dtype === 'string')
    return values.map((value, at) => check(value, typeof value === 'string', at, dtype) as string);
  const data = new DTYPES[dtype].array(size) as Exclude<TensorDataMap[DType], readonly string[]>;
  const read = BIG.has(dtype) ? readBig : dtype === 'bool' ? readBool : readNumber;
  for (let at = 0; at < size; at++) {
    const value = read(values[at]);
    if (value !== undefined) data[at] = value as never;
    // A number that the dtype cannot represent was wrapped around, or became infinite.
    const fits = value !== undefined && (FLOATS.has(dtype) ? Number.isFinite(data[at]) : data[at] === value);
    if (!fits) check(values[at], false, at, dtype);
  }
  return data;
}

function check<T>(value: T, fits: boolean, at: number, dtype: DType): T {
  if (fits) return value;
  const given = value instanceof LongInteger ? shorten(value.digits) : describeValue(value);
  throw new Fault(`its element ${at} is ${given}, which is no ${DTYPES[dtype].openInference}`);
}

function readNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : value instanceof LongInteger ? Number(value.digits) : undefined;
}

function readBool(value: unknown): number | undefined {
  return value === true || value === 1 ? 1 : value === false || value === 0 ? 0 : undefined;
}

/**
 * The characters of -2⁶³ and of 2⁶⁴ - 1. More digits are no integer of 64 bits, and a bigint of very many takes
 * seconds.
 */
const MAX_DIGITS = 20;

function readBig(value: unknown): bigint | undefined {
  if (value instanceof LongInteger) return value.digits.length > MAX_DIGITS ? undefined : BigInt(value.digits);
  return Number.isSafeInteger(value) ? BigInt(value as number) : undefined;
}

/** Returns the elements of lists in lists. @throws `Fault` if the lists are not those of the dims */
function flatten(list: readonly unknown[], dims: readonly number[], axis: number, into: unknown[]): unknown[] {
  if (list.length !== dims[axis])
    throw new Fault(`a list of dim ${axis} has ${list.length} elements, and its shape is [${dims.join(', ')}]`);
  for (const value of list) {
    if (axis + 1 === dims.length) into.push(value);
    else if (Array.isArray(value)) flatten(value, dims, axis + 1, into);
    else throw new Fault(`dim ${axis} has ${describeValue(value)}, expected a list of ${dims[axis + 1]}`);
  }
  return into;
}

/** An integer with too many digits for a JavaScript number. */
class LongInteger {
  constructor(readonly digits: string) {}

  /** Returns the number for messages. */
  toJSON(): number {
    return Number(this.digits);
  }
}

/** An integer of 16 digits or more; not a part of a number with a fraction or an exponent. 2⁵³ has 16 digits. */
const LONG = /(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g;
/** Marks a long integer that was put into a string. */
const MARK = '\u0000integer ';
const MARKED = new RegExp(`^${MARK}(-?\\d{16,})$`);

/**
 * Parses JSON. Integers of 16 digits or more are returned as `LongInteger`, with all of their digits.
 * @throws `SyntaxError`
 */
export function parseExact(text: string): unknown {
  const marked = /\d{16}/.test(text) ? markLongIntegers(text) : text;
  if (marked === text) return JSON.parse(text);
  return JSON.parse(marked, (_, value: unknown) => {
    const digits = typeof value === 'string' ? MARKED.exec(value)?.[1] : undefined;
    return digits === undefined ? value : new LongInteger(digits);
  });
}

/** Puts long integers into marked strings. The text of strings stays as it is. */
function markLongIntegers(text: string): string {
  const parts: string[] = [];
  const mark = JSON.stringify(MARK).slice(0, -1);
  for (let at = 0; at < text.length;) {
    const open = text.indexOf('"', at);
    const end = open < 0 ? text.length : open;
    parts.push(text.slice(at, end).replace(LONG, (digits) => `${mark}${digits}"`));
    at = open < 0 ? end : endOfString(text, open);
    parts.push(text.slice(end, at));
  }
  return parts.join('');
}
