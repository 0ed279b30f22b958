import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { fetchArchive } from '../../../../src/worker/models/archive.ts';
import { fetchModel } from '../../../../src/worker/models/model-files.ts';
import { generate, readGolden } from '../../../../src/worker/models/golden.ts';
import { hashOf } from '../../../../src/shared/hash.ts';
import { readSafetensors } from '../../../../src/worker/tensors/safetensors.ts';

const fileBytes = (path: string): Uint8Array => readFileSync(new URL(path, import.meta.url));
/** A `.safetensors` file of this header and this many bytes. */
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
      fileBytes('../../../models/proof/dtypes.safetensors'),
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
    const bytes = fileBytes('../../../models/proof/dtypes.safetensors');
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
    const { inputs, outputs } = readGolden(
      fileBytes('../../../models/proof/conv_relu_conv/golden.safetensors'),
      'golden',
    );
    const { models } = JSON.parse(readFileSync(new URL('../../../models/goldens.json', import.meta.url), 'utf8')) as {
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
      file(
        {
          ...output,
          __metadata__: Object.fromEntries(
            dims.map((one, at) => [`inputs/${at}`, JSON.stringify({ seed: 1, dims: one })]),
          ),
        },
        8,
      );
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
      message: expect.stringContaining('golden: expected a list'),
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
