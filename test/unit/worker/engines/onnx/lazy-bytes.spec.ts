import { expect, test } from '@playwright/test';
import { LazyBytes } from '../../../../../src/worker/engines/onnx/lazy-bytes.ts';

const MB = 2 ** 20;

/** What was read of the file, as `[from, to]`. */
let reads: [number, number][] = [];

/** A file whose byte at each place is the place, modulo 251. */
function fileOf(size: number): Blob {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at++) bytes[at] = at % 251;
  const slice = (from: number, to: number): unknown => ({ from, to: Math.min(to, size), bytes: bytes.slice(from, to) });
  return { size, slice } as unknown as Blob;
}

class Reader {
  readAsArrayBuffer(part: Blob): ArrayBuffer {
    const { from, to, bytes } = part as unknown as { from: number; to: number; bytes: Uint8Array<ArrayBuffer> };
    reads.push([from, to]);
    return bytes.buffer;
  }
}

test.beforeEach(() => {
  reads = [];
  Object.assign(globalThis, { FileReaderSync: Reader });
});
test.afterEach(() => {
  Reflect.deleteProperty(globalThis, 'FileReaderSync');
});

const range = (from: number, bytes: number) => ({ from, to: from + bytes });

test('tensors that lie side by side are read at once, and asked for in any order', () => {
  const tensors = [range(700, 100), range(10, 90), range(100, 200), range(400, 50)];
  const bytes = new LazyBytes(fileOf(1000), tensors);
  expect(bytes.byteLength).toBe(1000);
  for (const { from, to } of [tensors[2]!, tensors[0]!, tensors[3]!, tensors[1]!]) {
    const part = bytes.subarray(from, to);
    expect([part.length, ...part]).toEqual([to - from, ...Array.from(part, (_, at) => (from + at) % 251)]);
  }
  expect(reads).toEqual([[10, 800]]);
});

test('a large tensor is read alone, and so are tensors that are far from one another', () => {
  const tensors = [range(0, 100), range(5 * MB, 100), range(9 * MB, 100), range(10 * MB, 30 * MB), range(40 * MB, 100)];
  const bytes = new LazyBytes(fileOf(50 * MB), tensors);
  for (const { from, to } of tensors) expect(bytes.subarray(from, to)[0]).toBe(from % 251);
  expect(reads).toEqual([
    [0, 5 * MB + 100],
    [9 * MB, 9 * MB + 100],
    [10 * MB, 40 * MB],
    [40 * MB, 40 * MB + 100],
  ]);
});

test('at most 32 MB wait for their tensors: then each is read alone', () => {
  const tensors = Array.from({ length: 40 }, (_, at) => range(at * 4 * MB, 4 * MB));
  const bytes = new LazyBytes(fileOf(160 * MB), tensors);
  const inTurns = [...tensors.filter((_, at) => at % 2 === 0), ...tensors.filter((_, at) => at % 2 === 1)];
  for (const { from, to } of inTurns) expect([...bytes.subarray(from, to).subarray(0, 1)]).toEqual([from % 251]);
  expect(reads.map(([from, to]) => (to - from) / MB)).toEqual([...Array(4).fill(8), ...Array(32).fill(4)]);
});

test('a tensor that is asked for twice has its bytes twice', () => {
  const [one, other] = [range(0, 100), range(100, 100)];
  const bytes = new LazyBytes(fileOf(1000), [one, other]);
  for (const { from, to } of [one, one, other, other, one])
    expect([...bytes.subarray(from, to)]).toEqual(Array.from({ length: 100 }, (_, at) => (from + at) % 251));
});

test('a tensor that is longer than it was said to be, and than those beside it, is read alone', () => {
  // As ONNX Runtime asks for a tensor whose `length` is 0, and for one of another spelling of the file's name.
  const bytes = new LazyBytes(fileOf(1000), [range(0, 0), range(400, 0), range(600, 10)]);
  for (const [from, to] of [
    [0, 400],
    [400, 700],
    [600, 900],
  ] as const)
    expect([...bytes.subarray(from, to)]).toEqual(Array.from({ length: to - from }, (_, at) => (from + at) % 251));
});

test('what no tensor was said to be is read alone, up to the end of a file that was cut off', () => {
  const bytes = new LazyBytes(fileOf(1000), [range(0, 100), range(900, 500), { from: 200, to: Infinity }]);
  expect(bytes.subarray(0, 100).length).toBe(100);
  expect(bytes.subarray(900, 1400).length).toBe(100);
  expect(bytes.subarray(200, 300).length).toBe(100);
  expect(reads).toEqual([
    [0, 100],
    [900, 1000],
    [200, 300],
  ]);
});
