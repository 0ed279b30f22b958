import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import * as ort from 'onnxruntime-web';
import { readSignature } from '../../../../../src/worker/engines/onnx/signature.ts';
import { withLastToken } from '../../../../../src/worker/models/onnx/last-token.ts';
import {
  encode,
  encodeNumber,
  encodeText,
  join,
  type Pieces,
} from '../../../../../src/worker/models/onnx/protobuf-writer.ts';

const MODELS = new URL('../../../../models/generation/', import.meta.url);
const TOKENS = [5, 9, 3, 7, 2, 11];
const WORDS = ['float32', 'float16', 'int64'] as const;

/** Returns all outputs for the tokens, without a cache. */
async function run(model: Uint8Array): Promise<Record<string, ort.Tensor>> {
  const session = await ort.InferenceSession.create(model, { logSeverityLevel: 3 });
  const feeds = readSignature(model).inputs.map(({ name, dtype, dims }) => {
    const type = WORDS.find((one) => one === dtype)!;
    const isPast = name.startsWith('past');
    const sizes = dims.map((size, axis) =>
      typeof size === 'number' ? size : axis === 0 ? 1 : isPast ? 0 : TOKENS.length,
    );
    const values = { input_ids: TOKENS, position_ids: [...TOKENS.keys()], attention_mask: TOKENS.map(() => 1) };
    const data = isPast
      ? new { float32: Float32Array, float16: Uint16Array, int64: BigInt64Array }[type](0)
      : BigInt64Array.from(values[name as keyof typeof values], BigInt);
    return [name, new ort.Tensor(type, data as never, sizes)] as const;
  });
  try {
    return { ...(await session.run(Object.fromEntries(feeds))) };
  } finally {
    await session.release();
  }
}

const numbersOf = async (tensor: ort.Tensor): Promise<Float64Array> =>
  Float64Array.from((await tensor.getData()) as Float32Array);

const lastOf = async (logits: ort.Tensor): Promise<Float64Array> => (await numbersOf(logits)).slice(-logits.dims[2]!);

/** Models by transformers (`test/models/generation`), in each precision (`quantize.py`). `q8` computes a scale for all tokens. */
for (const { path, tolerance, isTied = false } of [
  { path: 'gpt2/onnx/model.onnx', tolerance: 1e-5, isTied: true },
  { path: 'gemma3/onnx/model.onnx', tolerance: 1e-5 },
  { path: 'llama/onnx/model.onnx', tolerance: 1e-5, isTied: true },
  { path: 'qwen3/onnx/model.onnx', tolerance: 1e-5, isTied: true },
  { path: 'quantized/q8.onnx', tolerance: 0 },
  { path: 'quantized/q4_int8.onnx', tolerance: 1e-5, isTied: true },
])
  for (const isWasm of [true, false])
    test(`${path}${isWasm ? ', on WASM' : ''}: the last token has the same logits, and all outputs else are the same`, async () => {
      const file = readFileSync(new URL(path, MODELS));
      const changed = new Uint8Array(await (await withLastToken(new Blob([file]), 'logits', isWasm)).arrayBuffer());
      const [made, given] = [readSignature(changed), readSignature(file)];
      const op = isTied && isWasm ? 'Gemm' : opOf(given);
      expect(made).toEqual({
        ...given,
        outputs: given.outputs.map((one) => (one.name === 'logits' ? { ...one, op } : one)),
      });
      const [own, expected] = [await run(changed), await run(file)];
      expect(own['logits']!.dims).toEqual([1, 1, expected['logits']!.dims[2]]);
      expect(expected['logits']!.dims[1]).toBe(TOKENS.length);
      const [logits, wanted] = [await lastOf(own['logits']!), await lastOf(expected['logits']!)];
      const largest = Math.max(...wanted.map(Math.abs));
      const error = Math.max(...logits.map((value, at) => Math.abs(value - wanted[at]!)));
      expect(error).toBeLessThanOrEqual(tolerance * largest);
      for (const name of Object.keys(expected).filter((one) => one !== 'logits'))
        expect(await numbersOf(own[name]!), name).toEqual(await numbersOf(expected[name]!));
    });

const opOf = ({ outputs }: ReturnType<typeof readSignature>): string | undefined =>
  outputs.find(({ name }) => name === 'logits')!.op;

/**
 * Decoders of two branches, for the first run and for the others: T5's and Marian's last weights are those of their
 * tokens, BART's and Marian's logits have a bias.
 */
for (const { path, op } of [
  { path: 't5', op: 'Gemm' },
  { path: 'bart', op: 'MatMul' },
  { path: 'marian', op: 'Gemm' },
])
  for (const isFirst of [true, false])
    test(`${path}, ${isFirst ? 'the first run' : 'a later run'}: each branch computes the last token's logits alone`, async () => {
      const file = readFileSync(new URL(`${path}/onnx/decoder_model_merged.onnx`, MODELS));
      const changed = new Uint8Array(await (await withLastToken(new Blob([file]), 'logits', true)).arrayBuffer());
      expect(Buffer.from(changed).includes('tabserve:last-token-product')).toBe(op === 'Gemm');
      const feeds = readSignature(file).inputs.map(({ name, dtype, dims }, at) => {
        const texts = /encoder/.test(name) ? 5 : isFirst ? 0 : 2;
        const tokens = name.startsWith('past') || /encoder/.test(name) ? texts : TOKENS.length;
        const sizes = dims.map((size, axis) => (typeof size === 'number' ? size : axis === 0 ? 1 : tokens));
        const count = sizes.reduce((product, size) => product * size, 1);
        const data =
          dtype === 'bool'
            ? Uint8Array.of(isFirst ? 0 : 1)
            : dtype === 'int64'
              ? BigInt64Array.from({ length: count }, (_, token) =>
                  name === 'input_ids' ? BigInt(TOKENS[token]!) : 1n,
                )
              : Float32Array.from({ length: count }, (_, index) => Math.sin(index + at));
        return [name, new ort.Tensor(dtype as 'float32', data as never, sizes)] as const;
      });
      const answer = async (model: Uint8Array) => {
        const session = await ort.InferenceSession.create(model, { logSeverityLevel: 3 });
        return { ...(await session.run(Object.fromEntries(feeds))) };
      };
      const [own, expected] = [await answer(changed), await answer(file)];
      expect(own['logits']!.dims).toEqual([1, 1, expected['logits']!.dims[2]]);
      const [logits, wanted] = [await lastOf(own['logits']!), await lastOf(expected['logits']!)];
      for (const [index, value] of logits.entries()) expect(value).toBeCloseTo(wanted[index]!, 5);
      for (const name of Object.keys(expected).filter((one) => one !== 'logits'))
        expect(await numbersOf(own[name]!), name).toEqual(await numbersOf(expected[name]!));
    });

interface Node {
  readonly op: string;
  readonly reads: readonly string[];
  readonly makes: readonly string[];
  readonly domain?: string;
}

const node = ({ op, reads, makes, domain = '' }: Node): Pieces => [
  ...reads.flatMap((name) => encodeText(1, name)),
  ...makes.flatMap((name) => encodeText(2, name)),
  ...encodeText(4, op),
  ...encodeText(7, domain),
];

/** A tensor of float32 with that many dims. @param tokens the size of the second one, if it is fixed */
const value = (name: string, rank: number, tokens?: number): Pieces => {
  const dims = Array.from({ length: rank }, (_, axis) =>
    encode(1, axis === 1 && tokens !== undefined ? encodeNumber(1, tokens) : encodeText(2, 'n')),
  ).flat();
  return [...encodeText(1, name), ...encode(2, encode(1, [...encodeNumber(1, 1), ...encode(2, dims)]))];
};

/** A model of these nodes, whose inputs are `x` and `y`. @param tokens how many a tensor has, by its name */
function modelOf(
  nodes: readonly Node[],
  {
    opset = 17,
    rank = 3,
    outputs = ['logits'],
    tokens = {},
  }: { opset?: number; rank?: number; outputs?: string[]; tokens?: Record<string, number> } = {},
): Blob {
  const between = Object.keys(tokens).filter((name) => !outputs.includes(name));
  const graph = [
    ...nodes.flatMap((one) => encode(1, node(one))),
    ...['x', 'y'].flatMap((name) => encode(11, value(name, 3))),
    ...outputs.flatMap((name) => encode(12, value(name, rank, tokens[name]))),
    ...between.flatMap((name) => encode(13, value(name, rank, tokens[name]))),
  ];
  return new Blob([join([...encodeNumber(1, 8), ...encode(7, graph), ...encode(8, encodeNumber(2, opset))])]);
}

const PRODUCT: Node = { op: 'MatMul', reads: ['x', 'weights'], makes: ['product'] };
const SCALED: Node = { op: 'Mul', reads: ['scale', 'product'], makes: ['logits'] };

test('what is not known to be of the last token alone stays as it is', async () => {
  const isChanged = async (...model: Parameters<typeof modelOf>): Promise<boolean> => {
    const file = modelOf(...model);
    return (await withLastToken(file, 'logits', true)) !== file;
  };
  expect(await isChanged([PRODUCT, SCALED])).toBe(true);
  expect(await isChanged([{ ...PRODUCT, makes: ['logits'] }])).toBe(true);
  expect(await isChanged([{ ...PRODUCT, reads: ['x', 'y'] }, SCALED]), 'no weights').toBe(false);
  expect(await isChanged([{ ...PRODUCT, reads: ['weights', 'x'] }, SCALED]), 'weights first').toBe(false);
  expect(await isChanged([PRODUCT, { ...SCALED, reads: ['y', 'product'] }]), 'two values').toBe(false);
  expect(await isChanged([PRODUCT, { ...SCALED, op: 'Softmax' }]), 'another operator').toBe(false);
  expect(await isChanged([PRODUCT, { ...SCALED, domain: 'own' }]), 'another domain').toBe(false);
  // ONNX Runtime has no such operator: a function of the file computes it, and may read all tokens.
  const own = { domain: 'com.microsoft' };
  expect(await isChanged([PRODUCT, { ...SCALED, ...own }]), 'a function').toBe(false);
  expect(await isChanged([{ ...PRODUCT, ...own }, SCALED]), 'a function that multiplies').toBe(false);
  expect(await isChanged([{ ...PRODUCT, ...own, op: 'MatMulNBits' }, SCALED]), "ONNX Runtime's own").toBe(true);
  const whole = { op: 'DequantizeLinear', reads: ['y', 'scale'], makes: ['x of y'] };
  expect(await isChanged([whole, { ...PRODUCT, reads: ['x of y', 'weights'] }, SCALED]), 'whole numbers').toBe(false);
  const named = [
    { ...whole, makes: ['named'] },
    { op: 'Identity', reads: ['named'], makes: ['x of y'] },
  ];
  const ofWhole = { ...PRODUCT, reads: ['x of y', 'weights'] };
  expect(await isChanged([...named, ofWhole, SCALED]), 'whole numbers by another name').toBe(false);
  expect(await isChanged([{ ...PRODUCT, op: 'Conv' }, SCALED]), 'no product').toBe(false);
  expect(await isChanged([PRODUCT, SCALED], { rank: 2 }), 'another rank').toBe(false);
  // ONNX Runtime's WASM compares what a file says of its dims with what they are.
  expect(await isChanged([PRODUCT, SCALED], { tokens: { logits: 8 } }), 'a fixed number of tokens').toBe(false);
  expect(await isChanged([PRODUCT, SCALED], { tokens: { product: 8 } }), 'and in between').toBe(false);
  expect(await isChanged([PRODUCT, SCALED], { tokens: { logits: 1, product: 1, x2: 8 } }), 'one token').toBe(true);
  const free = 2 ** 64;
  expect(await isChanged([PRODUCT, SCALED], { tokens: { logits: free } }), 'a free number, as −1').toBe(true);
  expect(await isChanged([PRODUCT, SCALED], { opset: 10 }), 'old operators').toBe(false);
  expect(await isChanged([PRODUCT, SCALED], { outputs: ['logits', 'product'] }), 'another output').toBe(false);
  const others = { op: 'ReduceMax', reads: ['product'], makes: ['most'] };
  expect(await isChanged([PRODUCT, SCALED, others]), 'another reader').toBe(false);
  expect(await isChanged([PRODUCT, SCALED, { ...others, reads: ['logits'] }]), 'a reader of the output').toBe(false);
  expect(await isChanged([SCALED, { op: 'Mul', reads: ['logits', 'scale'], makes: ['product'] }]), 'a ring').toBe(
    false,
  );
  expect(await isChanged([], {}), 'no nodes').toBe(false);
});

test('weights may be laid out by many nodes, and a damaged file stays as it is', async () => {
  const folded = Array.from({ length: 200 }, (_, at) => ({
    op: 'Mul',
    reads: [`w${at}`, `w${at}`],
    makes: [`w${at + 1}`],
  }));
  const file = modelOf([...folded, { ...PRODUCT, reads: ['x', 'w200'] }, SCALED]);
  expect(await withLastToken(file, 'logits', true)).not.toBe(file);
  const damaged = file.slice(0, file.size - 1);
  expect(await withLastToken(damaged, 'logits', true)).toBe(damaged);
  expect(await withLastToken(file, 'others', true)).toBe(file);
});

/** Returns the field of weights. @param dtype `TensorProto.DataType` */
const weights = (name: string, dims: readonly number[], dtype: number, data: ArrayBufferView): Pieces =>
  encode(5, [
    ...dims.flatMap((size) => encodeNumber(1, size)),
    ...encodeNumber(2, dtype),
    ...encodeText(8, name),
    ...encode(9, [new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength)]),
  ]);

test('8 bits: the scale stays that of all tokens, and the numbers are the same, bit for bit', async () => {
  const [width, words] = [32, 48];
  const signed = Int8Array.from({ length: width * words }, (_, at) => ((at * 37) % 255) - 127);
  const [float, int8] = [1, 3];
  const nodes: readonly Node[] = [
    { op: 'DynamicQuantizeLinear', reads: ['x'], makes: ['q', 'scale', 'zero'] },
    { op: 'MatMulInteger', reads: ['q', 'weights', 'zero', 'own zero'], makes: ['sum'] },
    { op: 'Cast', reads: ['sum'], makes: ['float'] },
    { op: 'Mul', reads: ['scale', 'own scale'], makes: ['both'] },
    { op: 'Mul', reads: ['float', 'both'], makes: ['logits'] },
  ];
  const to = [...encodeText(1, 'to'), ...encodeNumber(3, float), ...encodeNumber(20, 2)];
  const graph = [
    ...nodes.flatMap((one) => encode(1, [...node(one), ...(one.op === 'Cast' ? encode(5, to) : [])])),
    ...weights('weights', [width, words], int8, signed),
    ...weights('own zero', [], int8, Int8Array.of(3)),
    ...weights('own scale', [], float, Float32Array.of(0.0123)),
    ...encodeText(2, 'graph'),
    ...encode(11, value('x', 3)),
    ...encode(12, value('logits', 3)),
  ];
  const file = join([...encodeNumber(1, 8), ...encode(7, graph), ...encode(8, encodeNumber(2, 17))]);
  const whole = new Blob([file]);
  const changed = await withLastToken(whole, 'logits', true);
  expect(changed).not.toBe(whole);
  // The largest number is not the last token's.
  const data = Float32Array.from({ length: 5 * width }, (_, at) => (at === 3 ? 40 : Math.sin(at)));
  const ask = async (model: Uint8Array): Promise<Float64Array> => {
    const session = await ort.InferenceSession.create(model);
    const { logits } = await session.run({ x: new ort.Tensor('float32', data, [1, 5, width]) });
    return await lastOf(logits!);
  };
  expect(await ask(new Uint8Array(await changed.arrayBuffer()))).toEqual(await ask(file));
});
