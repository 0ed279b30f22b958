import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { compareLabels, compareOutputs, findNonFinite, GOLDEN_TOLERANCES } from '../../src/backends/proof.ts';
import type { ExpectedTensor, Tensor } from '../../src/contract/tensors.ts';
import { fetchArchive } from '../../src/models/archive.ts';
import { fetchModel } from '../../src/models/model-files.ts';
import { generate, readGolden } from '../../src/models/golden.ts';
import { hashOf } from '../../src/models/integrity.ts';
import { readSafetensors } from '../../src/models/safetensors.ts';

const fileBytes = (path: string): Uint8Array => readFileSync(new URL(path, import.meta.url));
const f32 = (data: readonly number[], dims: readonly number[] = [data.length]): Tensor => ({
  dtype: 'float32',
  dims,
  data: Float32Array.from(data),
});

/** A `.safetensors` file of this header and so many bytes. */
function file(header: unknown, bytes = 0): Uint8Array {
  const text = new TextEncoder().encode(typeof header === 'string' ? header : JSON.stringify(header));
  const whole = new Uint8Array(8 + text.length + bytes);
  new DataView(whole.buffer).setBigUint64(0, BigInt(text.length), true);
  whole.set(text, 8);
  return whole;
}

test.describe('safetensors', () => {
  test("a file by Python's struct, of every dtype, with nothing aligned", () => {
    const { tensors, metadata } = readSafetensors(
      fileBytes('../models/proof/dtypes.safetensors'),
      'dtypes.safetensors',
    );
    expect(metadata).toEqual({ about: 'every dtype' });
    const found = Object.fromEntries(
      Object.entries(tensors).map(([name, { dtype, dims, data }]) => [name, [dtype, dims, ...(data as Float32Array)]]),
    );
    expect(found).toEqual({
      three: ['uint8', [3], 1, 2, 3],
      F64: ['float64', [2, 1], 0.1, -1e300],
      F32: ['float32', [2, 1], 0.5, Infinity],
      F16: ['float16', [2, 1], 0x3e00, 0x7e00],
      I64: ['int64', [2, 1], -(2n ** 62n), 2n ** 53n + 1n],
      I32: ['int32', [2, 1], -(2 ** 31), 7],
      I16: ['int16', [2, 1], -32768, 7],
      I8: ['int8', [2, 1], -128, 7],
      U64: ['uint64', [2, 1], 2n ** 64n - 1n, 7n],
      U32: ['uint32', [2, 1], 2 ** 32 - 1, 7],
      U16: ['uint16', [2, 1], 65535, 7],
      U8: ['uint8', [2, 1], 255, 7],
      BOOL: ['bool', [2, 1], 1, 0],
      scalar: ['float32', [], -2.5],
    });
  });

  test('a part of a larger buffer', () => {
    const bytes = fileBytes('../models/proof/dtypes.safetensors');
    const larger = new Uint8Array(bytes.length + 30).fill(9);
    larger.set(bytes, 13);
    expect(readSafetensors(larger.subarray(13, 13 + bytes.length), 'x')).toEqual(readSafetensors(bytes, 'x'));
  });

  const entry = { dtype: 'F32', shape: [2], data_offsets: [0, 8] };
  for (const [what, bytes, why] of [
    ['no bytes', new Uint8Array(), 'too short'],
    ['a header that is longer than the file', file('{}').fill(0xff, 0, 8), 'runs past the end'],
    ['a page of HTML', new TextEncoder().encode('<!doctype html><title>404</title>'), 'runs past the end'],
    ['a header that is not JSON', file('{"a":'), 'not JSON'],
    ['a header that is null', file('null'), 'no mapping'],
    ['an entry that is null', file({ a: null }), '"a" has no dtype'],
    ['an entry without a shape', file({ a: { dtype: 'F32', data_offsets: [0, 0] } }), '"a" has no dtype'],
    ['a negative dim', file({ a: { ...entry, shape: [-2] } }, 8), '"a" has no dtype'],
    ['a dtype that we have not', file({ a: { ...entry, dtype: 'BF16' } }, 8), 'BF16'],
    ['offsets that do not suit the shape', file({ a: { ...entry, shape: [3] } }, 12), 'needs 12'],
    ['a dtype named like a method of every object', file({ a: { ...entry, dtype: 'constructor' } }, 8), 'constructor'],
    ['metadata that is null', file({ __metadata__: null, a: entry }, 8), '__metadata__'],
    ['metadata that is no text', file({ __metadata__: { 'inputs/x': 3 } }), '"inputs/x"'],
    ['a tensor that was cut off', file({ a: entry }, 7), '"a" runs past the end'],
    ['two tensors on the same bytes', file({ a: entry, b: entry }, 8), 'the tensor before it ends at 8'],
    ['tensors that overlap', file({ a: entry, b: { ...entry, data_offsets: [4, 12] } }, 12), '"b" begins at byte 4'],
    ['a gap', file({ a: entry, b: { ...entry, data_offsets: [12, 20] } }, 20), '"b" begins at byte 12'],
    ['a gap at the start', file({ a: { ...entry, data_offsets: [4, 12] } }, 12), '"a" begins at byte 4'],
    ['bytes of no tensor', file({ a: entry }, 12), 'its last 4 bytes'],
    ['a header of 5 MB', file(`{"a":"${'x'.repeat(5_000_000)}"}`), 'its header has'],
  ] as const) {
    test(`damaged: ${what}`, () => {
      expect(() => readSafetensors(bytes, 'golden.safetensors')).toThrow(
        expect.objectContaining({ code: 'model-format', message: expect.stringContaining(why) }),
      );
      expect(() => readSafetensors(bytes, 'golden.safetensors')).toThrow('golden.safetensors');
    });
  }
});

test.describe('golden examples', () => {
  test('an input by its seed, and a sample of an output, as Python wrote them', () => {
    const { inputs, outputs } = readGolden(fileBytes('../models/proof/conv_relu_conv/golden.safetensors'), 'golden');
    const { models } = JSON.parse(readFileSync(new URL('../models/goldens.json', import.meta.url), 'utf8')) as {
      models: { conv_relu_conv: { outputs: { y: { data: number[] } } }[] };
    };
    expect(inputs).toEqual({ x: { dtype: 'float32', dims: [1, 4, 8, 8], data: generate(106, [1, 4, 8, 8]) } });
    // The same run of the same model, written by another script.
    const whole = models.conv_relu_conv[0]!.outputs.y.data;
    expect(outputs['y']).toMatchObject({ dtype: 'float32', dims: [1, 4, 8, 8], stride: 3 });
    const sample = whole.filter((_, index) => index % 3 === 0);
    expect(outputs['y']!.data).toHaveLength(86);
    for (const [index, value] of sample.entries()) expect(outputs['y']!.data[index]).toBeCloseTo(value, 5);
  });

  test('the generator, by hand', () => {
    // 1664525 · 1 + 1013904223 = 1015568748; of that 2³¹ is 2147483648.
    expect(generate(1, [1])[0]).toBe(Math.fround(1015568748 / 2147483648 - 1));
    expect(generate(1, [2, 2])).toHaveLength(4);
    expect(generate(1, [])).toHaveLength(1);
  });

  const output = { 'outputs/y': { dtype: 'F32', shape: [2], data_offsets: [0, 8] } };

  test('inputs that do not fit the model, or are too many together, are refused before one is generated', () => {
    const seeded = (...dims: (readonly number[])[]): Uint8Array =>
      file({ ...output, __metadata__: Object.fromEntries(dims.map((one, at) => [`inputs/${at}`, JSON.stringify({ seed: 1, dims: one })])) }, 8); // prettier-ignore
    const input = (name: string, ...dims: (number | string | null)[]) => ({ name, dtype: 'float32', dims }) as const;
    const half = [2 ** 26];
    for (const [bytes, model, why] of [
      [seeded(half, half, [1]), undefined, 'generated numbers; an example may have 134217728'],
      [seeded([2 ** 53 - 1, 2 ** 53 - 1]), undefined, 'generated numbers'],
      [seeded([Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, 0], [2 ** 28]), undefined, 'generated numbers'],
      [seeded(half), [input('x', 2)], '"0", [67108864], is no input of the model, which has "x"'],
      [seeded(half), [input('0', 'batch', 2)], '"0", [67108864], is [batch, 2] in the model'],
      [seeded(half), [input('0', 4)], 'is [4] in the model'],
      [
        file({ ...output, 'inputs/x': { dtype: 'F32', shape: [0], data_offsets: [8, 8] } }, 8),
        [input('x', 1)],
        '"x", [0], is [1] in the model',
      ],
    ] as const) {
      const started = process.cpuUsage().user;
      expect(() => readGolden(bytes, 'golden', model)).toThrow(
        expect.objectContaining({ code: 'model-format', message: expect.stringContaining(why) }),
      );
      expect((process.cpuUsage().user - started) / 1000).toBeLessThan(100);
    }
    const fits = readGolden(seeded([1, 4]), 'golden', [input('0', null, 4)]);
    expect(fits.inputs['0']!.dims).toEqual([1, 4]);
  });

  for (const [what, header, why] of [
    ['no inputs', output, 'needs inputs/'],
    ['no outputs', { __metadata__: { 'inputs/x': '{"seed": 1, "dims": [1]}' } }, 'needs inputs/'],
    ['metadata that is not JSON', { ...output, __metadata__: { 'inputs/x': '{' } }, '"inputs/x"'],
    ['a seed that is none', { ...output, __metadata__: { 'inputs/x': '{"seed": "1", "dims": [1]}' } }, '"inputs/x"'],
    ['an input without dims', { ...output, __metadata__: { 'inputs/x': '{"seed": 1}' } }, '"inputs/x"'],
    [
      'a stride of 0',
      {
        ...output,
        __metadata__: { 'inputs/x': '{"seed": 1, "dims": [1]}', 'outputs/y': '{"stride": 0, "dims": [4]}' },
      },
      '"outputs/y"',
    ],
    [
      'a sample of another size',
      {
        ...output,
        __metadata__: { 'inputs/x': '{"seed": 1, "dims": [1]}', 'outputs/y': '{"stride": 2, "dims": [5]}' },
      },
      'makes 3',
    ],
  ] as const) {
    test(`no golden example: ${what}`, () => {
      expect(() => readGolden(file(header, 'outputs/y' in header ? 8 : 0), 'golden')).toThrow(
        expect.objectContaining({ code: 'model-format', message: expect.stringContaining(why) }),
      );
    });
  }
});

test.describe('integrity', () => {
  const MANIFEST = JSON.stringify({ model: { modelName: 'm', serializedFile: 'm.onnx' } });
  const fetchWith = async (extras: unknown, model = 'weights') => {
    const options = {
      fetch: (url: RequestInfo | URL) => {
        const files: Record<string, string> = {
          '/m/MAR-INF/MANIFEST.json': MANIFEST,
          '/m/tabserve.json': JSON.stringify(extras),
          '/m/m.onnx': model,
          '/m/golden': 'g',
        };
        const text = files[new URL(String(url)).pathname];
        return Promise.resolve(text === undefined ? new Response('', { status: 404 }) : new Response(text));
      },
    };
    return await fetchModel(await fetchArchive('https://example.org/m/', options), 'onnx', options);
  };
  // printf weights | sha256sum
  const SHA256 = '9a129038d9a00aed0cf6a7ea059ca50a813449061ab87848cf1a13eafdf33b2c';

  test('files that are what they must be', async () => {
    const sha256 = await hashOf([new Blob(['weights'])]);
    const archive = await fetchWith({
      golden: ['golden'],
      files: {
        'm.onnx': { bytes: 7, sha256: sha256.toUpperCase() },
        golden: { bytes: 1 },
      },
    });
    expect(archive).toMatchObject({ golden: ['golden'], models: { onnx: 'm.onnx' } });
    expect(Object.keys(archive.files).sort()).toEqual(['golden', 'm.onnx']);
  });

  test("the hash is SHA-256, by coreutils' sha256sum", async () => {
    expect(await hashOf([new Blob(['wei']), new Blob(['ghts'])])).toBe(SHA256);
  });

  for (const [what, files, model, why] of [
    ['a size', { 'm.onnx': { bytes: 8 } }, 'weights', 'm.onnx has 7 bytes, expected 8'],
    ['a hash', { 'm.onnx': { bytes: 7, sha256: SHA256 } }, 'weighty', 'm.onnx has the SHA-256'],
    ['a golden example', { golden: { bytes: 2 } }, 'weights', 'golden has 1 bytes, expected 2'],
    ['a size that is no number', { 'm.onnx': { bytes: '7' } }, 'weights', 'tabserve.json: files'],
    ['a hash that is none', { 'm.onnx': { sha256: 'abc' } }, 'weights', 'tabserve.json: files'],
    ['files that are a list', [1], 'weights', 'tabserve.json: files'],
  ] as const) {
    test(`refused: ${what}`, async () => {
      await expect(fetchWith({ golden: ['golden'], files }, model)).rejects.toMatchObject({
        code: 'model-format',
        message: expect.stringContaining(why),
      });
    });
  }

  test('golden examples that are no list, are missing, or lie outside', async () => {
    await expect(fetchWith({ golden: 'golden' })).rejects.toMatchObject({
      code: 'model-format',
      message: expect.stringContaining('golden must be a list'),
    });
    await expect(fetchWith({ golden: ['absent'] })).rejects.toMatchObject({
      code: 'model-not-found',
      message: expect.stringContaining('absent'),
    });
    await expect(fetchWith({ golden: ['../golden'] })).rejects.toMatchObject({
      code: 'model-format',
      message: expect.stringContaining('outside'),
    });
  });
});

test.describe('comparison', () => {
  const compare = (got: Tensor, expected: ExpectedTensor) => compareOutputs({ y: got }, { y: expected });

  test('float32: a thousandth of the largest, and 1e-4', () => {
    const right = f32([0, 100, -200]);
    expect(compare(f32([0.2, 100, -200]), right)).toEqual({ wrong: undefined, error: expect.closeTo(0.2, 5) });
    expect(compare(f32([0, 100, -200.25]), right)).toEqual({
      wrong: expect.stringContaining('off by 0.250 at 2 (-200.25 for -200), allowed is 0.200'),
      error: 0.25,
    });
    expect(compare(f32([0.00009]), f32([0])).wrong).toBeUndefined();
    expect(compare(f32([0.00011]), f32([0])).wrong).toBeDefined();
  });

  test('float16 by value, with a tolerance of its own', () => {
    const f16 = (...data: number[]): Tensor => ({
      dtype: 'float16',
      dims: [data.length],
      data: Uint16Array.from(data),
    });
    // 0x3c00 is 1, 0x3c01 the next number, 0x3c20 is 1.03125, 0x7e00 and 0x7e01 are both not a number.
    expect(compare(f16(0x3c01, 0x7e01), f16(0x3c00, 0x7e00))).toEqual({ wrong: undefined, error: 2 ** -10 });
    expect(compare(f16(0x3c20), f16(0x3c00))).toMatchObject({
      wrong: expect.stringContaining('off by'),
      error: 0.03125,
    });
    expect(compare(f16(0x8000), f16(0x0000)).wrong).toBeUndefined();
  });

  test('float64 as float32', () => {
    expect(GOLDEN_TOLERANCES.float64).toEqual(GOLDEN_TOLERANCES.float32);
    expect(
      compare(
        { dtype: 'float64', dims: [1], data: Float64Array.of(1.002) },
        { dtype: 'float64', dims: [1], data: Float64Array.of(1) },
      ).wrong,
    ).toBeDefined();
  });

  for (const [dtype, right, off] of [
    ['int32', Int32Array.of(5, 7), Int32Array.of(5, 8)],
    ['uint8', Uint8Array.of(5, 7), Uint8Array.of(5, 8)],
    ['bool', Uint8Array.of(1, 0), Uint8Array.of(1, 1)],
    ['int64', BigInt64Array.of(5n, 2n ** 60n), BigInt64Array.of(5n, 2n ** 60n + 1n)],
    ['string', ['tab', 'serve'], ['tab', 'Serve']],
  ] as const) {
    test(`${dtype}: equal, or wrong`, () => {
      const tensor = (data: typeof right | typeof off): Tensor => ({ dtype, dims: [2], data }) as Tensor;
      expect(compare(tensor(right), tensor(right))).toEqual({ wrong: undefined, error: 0 });
      expect(compare(tensor(off), tensor(right)).wrong).toContain(
        `is ${String(off[1])} at 1, expected ${String(right[1])}`,
      );
    });
  }

  test('infinite and NaN values must be at the expected positions', () => {
    const right = f32([NaN, Infinity, -Infinity, 1]);
    expect(compare(f32([NaN, Infinity, -Infinity, 1]), right)).toEqual({ wrong: undefined, error: 0 });
    for (const wrong of [
      [0, Infinity, -Infinity, 1],
      [NaN, -Infinity, -Infinity, 1],
      [NaN, 3e38, -Infinity, 1],
      [NaN, Infinity, -Infinity, NaN],
      [NaN, Infinity, -Infinity, Infinity],
    ])
      // prettier-ignore
      expect(compare(f32(wrong), right)).toEqual({ wrong: expect.stringContaining('off by Infinity'), error: Infinity });
    // An infinity does not widen what is allowed of the others.
    expect(compare(f32([NaN, Infinity, -Infinity, 1.01]), right).wrong).toContain('off by 0.0100 at 3');
  });

  test('a sample: only the sampled positions are compared, and differences are reported by their position in the whole tensor', () => {
    const sample: ExpectedTensor = { dtype: 'float32', dims: [2, 3], data: Float32Array.of(0, 2, 4), stride: 2 };
    expect(compare(f32([0, 9, 2, 9, 4, 9], [2, 3]), sample).wrong).toBeUndefined();
    expect(compare(f32([0, 9, 2, 9, 5, 9], [2, 3]), sample).wrong).toContain('at 4 (5 for 4)');
    expect(
      compare(
        { dtype: 'int32', dims: [4], data: Int32Array.of(1, 2, 3, 4) },
        { dtype: 'int32', dims: [4], data: Int32Array.of(1, 4), stride: 2 },
      ).wrong,
    ).toContain('is 3 at 2');
  });

  test('labels: the place of the largest number in each row, and not the numbers', () => {
    const rows = (...data: number[]): Tensor => ({ dtype: 'float32', dims: [2, 3], data: Float32Array.from(data) });
    const expected = { y: rows(1, 2, 3, 9, 8, 7), n: { dtype: 'int32', dims: [1], data: Int32Array.of(4) } } as const;
    const { n } = expected;
    expect(compareLabels({ y: rows(0, 0, 1, 5, 0, 0), n }, expected)).toEqual({ wrong: undefined, error: 8 });
    expect(compareLabels({ y: rows(1, 2, 3, 8, 9, 7), n }, expected).wrong).toBe('output "y" has its best label at 1 in row 1, expected 0'); // prettier-ignore
    expect(compareLabels({ y: rows(1, 2, 3, 9, NaN, 7), n }, expected).wrong).toContain('is off by Infinity');
    expect(compareLabels({ y: expected.y, n: { ...n, data: Int32Array.of(5) } }, expected).wrong).toContain(
      'is 5 at 0',
    );
    expect(compareLabels({ n }, expected).wrong).toContain('is missing');
    const one = { dtype: 'float32', dims: [3, 1], data: new Float32Array(3) } as const;
    expect(compareLabels({ y: one }, { y: one }).wrong).toMatch(/shows no labels.*one number a row/);
    const sample = { ...one, dims: [3, 100], stride: 100 };
    expect(compareLabels({ y: { ...one, dims: [3, 100], data: new Float32Array(300) } }, { y: sample }).wrong).toMatch(/shows no labels.*only a sample/); // prettier-ignore
  });

  test('names, dtypes and dims', () => {
    expect(compareOutputs({}, { y: f32([1]) })).toEqual({ wrong: 'output "y" is missing', error: Infinity });
    expect(compare(f32([1, 2], [1, 2]), f32([1, 2], [2, 1])).wrong).toContain(
      'float32 [1, 2], expected float32 [2, 1]',
    );
    expect(compare({ dtype: 'int32', dims: [1], data: Int32Array.of(1) }, f32([1])).wrong).toContain(
      'int32 [1], expected float32 [1]',
    );
    expect(compareOutputs({ y: f32([1]), more: f32([2]) }, { y: f32([1]) })).toEqual({ wrong: undefined, error: 0 });
  });

  test('the first number that is not finite', () => {
    expect(findNonFinite({ a: f32([1, 2]), b: f32([1, -Infinity]) })).toBe('output "b" is -Infinity at 1');
    expect(findNonFinite({ h: { dtype: 'float16', dims: [1], data: Uint16Array.of(0x7e00) } })).toBe(
      'output "h" is NaN at 0',
    );
    expect(
      findNonFinite({
        i: { dtype: 'int32', dims: [1], data: Int32Array.of(0x7f800000) },
        s: { dtype: 'string', dims: [1], data: ['NaN'] },
      }),
    ).toBeUndefined();
  });
});
