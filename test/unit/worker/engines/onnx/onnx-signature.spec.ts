import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { readSignature } from '../../../../../src/worker/engines/onnx/signature.ts';

const read = (name: string): Uint8Array => readFileSync(new URL(`../../../../models/${name}.onnx`, import.meta.url));

test('inputs and outputs as the file declares them', () => {
  expect(readSignature(read('affine'))).toEqual({
    inputs: [{ name: 'x', dtype: 'float32', dims: ['N', 4] }],
    outputs: [{ name: 'y', dtype: 'float32', dims: ['N', 3], op: 'Gemm' }],
    metadata: undefined,
    quantizesAtRunTime: false,
    poolsPadding: false,
  });
  // Its zeros would become the padding of a MaxPool, which is −∞.
  for (const name of ['tasks/image-bit/onnx/model', 'padding/branch', 'padding/function'])
    expect(readSignature(read(name)).poolsPadding, name).toBe(true);
  expect(readSignature(read('dtypes')).inputs.map(({ dtype }) => dtype)).toEqual([
    'float32',
    'int32',
    'int64',
    'uint8',
    'bool',
  ]);
  expect(readSignature(read('slow')).inputs).toContainEqual({ name: 'rounds', dtype: 'int64', dims: [] });
});

test("what computes an output, and a classifier's sequence of maps, which is no tensor", () => {
  // Softmax, then Identity.
  expect(readSignature(read('contradictions/probabilities')).outputs).toMatchObject([
    { name: 'output', op: 'Softmax' },
  ]);
  expect(() => readSignature(read('contradictions/custom-vision'))).toThrow(
    expect.objectContaining({
      code: 'unsupported',
      message: expect.stringMatching(/"loss" .*ZipMap.*'zipmap': False/),
    }),
  );
});

test('damage is found, wherever the file is cut', () => {
  const model = read('tiny_classifier');
  for (let length = 0; length < model.length; length += 13)
    expect(() => readSignature(model.subarray(0, length)), `${length} bytes`).toThrow(
      expect.objectContaining({ code: 'model-format' }),
    );
  for (const name of ['truncated', 'garbage', 'empty', 'not_a_model', 'no_graph'])
    expect(() => readSignature(read(name)), name).toThrow(expect.objectContaining({ code: 'model-format' }));
});

/** One field of a protobuf message: a number, bytes, or text. */
const field = (number: number, value: number | bigint | Uint8Array | string): number[] => {
  if (typeof value === 'number' || typeof value === 'bigint') return [number << 3, ...varint(BigInt(value))];
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value;
  return [...varint(BigInt((number << 3) | 2)), ...varint(BigInt(bytes.length)), ...bytes];
};
const varint = (value: bigint): number[] =>
  value < 128n ? [Number(value)] : [Number(value & 127n) | 128, ...varint(value >> 7n)];
const message = (...fields: number[][]): Uint8Array => Uint8Array.from(fields.flat());

test('a dimension of -1, as older exporters write it, is dynamic', () => {
  // int64 fields are written in two's complement: -1 takes ten bytes.
  const dims = [2n ** 64n - 1n, 3n].map((size) => field(1, message(field(1, size))));
  const type = message(field(1, message(field(1, 1), field(2, message(...dims)))));
  const graph = message(field(11, message(field(1, 'x'), field(2, type))));
  const { inputs } = readSignature(message(field(1, 8), field(7, graph)));
  expect(inputs).toEqual([{ name: 'x', dtype: 'float32', dims: [null, 3] }]);
});

test('a node that computes a scale at run time is found, also in a branch and in a function', () => {
  const quantizes = (nodes: number[][], functions: number[][] = []): boolean =>
    readSignature(message(field(1, 8), field(7, message(...nodes)), ...functions)).quantizesAtRunTime;
  const node = (op: string, ...attributes: number[][]): Uint8Array => message(field(4, op), ...attributes);
  const level = (number: number): number[] => field(5, message(field(1, 'accuracy_level'), field(3, number)));
  expect(quantizes([field(1, node('MatMul')), field(1, node('QuantizeLinear'))])).toBe(false);
  expect(quantizes([field(1, node('MatMul')), field(1, node('DynamicQuantizeLinear'))])).toBe(true);
  expect(quantizes([field(1, node('MatMulNBits', level(4)))])).toBe(true);
  expect(quantizes([field(1, node('MatMulNBits', level(1)))])).toBe(false);
  expect(quantizes([field(1, node('MatMulNBits'))])).toBe(false);
  const branch = message(field(1, node('DynamicQuantizeMatMul')));
  expect(quantizes([field(1, node('If', field(5, message(field(6, branch)))))])).toBe(true);
  const body = message(field(7, node('DynamicQuantizeLinear')));
  expect(quantizes([field(1, node('Linear'))], [field(25, body)])).toBe(true);
});
