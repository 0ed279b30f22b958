import { expect, test } from '@playwright/test';
import { REFERENCE_TOLERANCES } from '../../../../src/worker/host/compare-outputs.ts';
import type { Archive } from '../../../../src/contract/archive.ts';
import { TabServeError } from '../../../../src/contract/errors.ts';
import type { Context, Handler } from '../../../../src/contract/handler.ts';
import type { Session, Tensor, Tensors } from '../../../../src/contract/tensors.ts';
import { BaseHandler } from '../../../../src/worker/handlers/base-handler.ts';
import { drawExamplePicture } from '../../../../src/worker/handlers/example-picture.ts';
import { VisionHandler } from '../../../../src/worker/handlers/vision-handler.ts';
import { instrument } from '../../../../src/worker/host/recorder.ts';
import { createTestContext } from '../../../../src/worker/host/test-context.ts';
import { generateVariants } from '../../../../src/worker/host/variants.ts';
import { compareSamples, measure, sample, tryOut } from '../../../../src/worker/host/prove.ts';

const f32 = (data: readonly number[], dims: readonly number[] = [1, data.length]): Tensor => ({
  dtype: 'float32',
  dims,
  data: Float32Array.from(data),
});

/** A model of one input and one output; `run` may throw. */
function sessionOf(run: (feeds: Tensors) => Tensors): Session {
  return {
    inputs: [{ name: 'x', dtype: 'float32', dims: [1, 2] }],
    outputs: [{ name: 'y', dtype: 'float32', dims: [1, 2] }],
    run: async (feeds) => run(feeds),
    async [Symbol.asyncDispose]() {},
  };
}

const handler = {
  example: () => ({ x: f32([0, 0]) }),
  examples: () => [{ x: f32([3, 4]) }],
  inference: async (feeds: Tensors, context: { open(): Promise<Session> }) => (await context.open()).run(feeds),
} as unknown as Handler;
const archive = { golden: [] as readonly string[] } as Archive;

test("a run that fails on the SDK's own inputs blames the backend, not a row", async () => {
  const session = sessionOf(() => {
    throw new TabServeError('inference-failed', 'no such kernel', { cause: 'driver' });
  });
  const context = createTestContext({ session });
  for (const work of [
    () => tryOut(handler, context, archive),
    () => sample(handler, context),
    () => measure(handler, context, 1),
  ])
    await expect(work()).rejects.toMatchObject({ code: 'backend-failed', message: 'no such kernel', cause: 'driver' });
  const lost = sessionOf(() => {
    throw new TabServeError('device-lost', 'gone');
  });
  await expect(tryOut(handler, createTestContext({ session: lost }), archive)).rejects.toMatchObject({
    code: 'device-lost',
  });
});

test('two workers compare on the example, the handler’s own examples, plain and doubled, noise and waves', async () => {
  const double = sessionOf(({ x }) => ({ y: f32([...(x!.data as Float32Array)].map((value) => 2 * value)) }));
  const context = createTestContext({ session: double });
  const samples = await sample(handler, context);
  expect(samples.map(({ feeds }) => [...(feeds['x']!.data as Float32Array)]).slice(0, 3)).toEqual([
    [0, 0],
    [3, 4],
    [6, 8],
  ]);
  expect(samples).toHaveLength(5);
  expect(await compareSamples(context, samples)).toEqual({ inputs: 5, error: 0, wrong: undefined });

  // Wrong where the input is large, as on a photograph, and by less than a golden example allows.
  const other = sessionOf(({ x }) => ({
    y: f32([...(x!.data as Float32Array)].map((value) => 2 * value + (value > 2 ? 0.006 : 0))),
  }));
  expect(await compareSamples(createTestContext({ session: other }), samples)).toEqual({
    inputs: 5,
    error: expect.closeTo(0.006, 5),
    wrong: expect.stringMatching(/^output "y" is off by 0\.00600 at [01]/),
  });
});

/**
 * ONNX Runtime's WebGL runs convolutions of equal shape with the clamp of the first one. MobileNetV2 of ImageNet with
 * the 8-bit ranges that it was trained with is wrong there by up to 0.015 on photographs, and by less than 2e-5 on
 * noise, waves and plain pictures.
 */
test('a clamp that is wrong beyond what plain pictures reach is found', async () => {
  const clampAt = (limit: number): Session => ({
    ...sessionOf(({ x }) => ({ y: f32([...(x!.data as Float32Array)].map((value) => Math.min(value, limit))) })),
    inputs: [{ name: 'x', dtype: 'float32', dims: [1, 3, 32, 32] }],
  });
  const config = { handler: { imageProcessing: [{ resize: [32, 32] }, 'toTensor'] } };
  const vision = new VisionHandler();
  const right = createTestContext({ session: clampAt(1.5), config });
  await vision.initialize(right);
  const samples = await sample(vision, right);
  expect(samples).toHaveLength(9);
  expect((await compareSamples(right, samples)).wrong).toBeUndefined();
  expect((await compareSamples(createTestContext({ session: clampAt(1.2), config }), samples)).wrong).toMatch(
    /off by 0\.[23]/,
  );
});

test('a model in half precision may differ by what float16 rounds, also where its outputs are float32', async () => {
  const sessionWith = (difference: number) =>
    createTestContext({
      session: sessionOf(({ x }) => ({ y: { ...x!, data: Float32Array.of(1 + difference) } as Tensor })),
    });
  const feeds = { x: f32([0], [1]) };
  const samples = [{ feeds, outputs: await (await sessionWith(0).open()).run(feeds) }];
  const wrong = async (difference: number, precision?: 'fp16' | 'q8') =>
    (await compareSamples(sessionWith(difference), samples, precision)).wrong !== undefined;
  expect(await wrong(0.008)).toBe(true);
  expect(await wrong(0.008, 'q8')).toBe(true);
  expect(await wrong(0.008, 'fp16')).toBe(false);
  expect(await wrong(0.05, 'fp16')).toBe(true);
});

test('an input decides nothing if the last bits of it change what WASM answers, but infinities are always wrong', async () => {
  const largest = (of: (value: number) => number): Session =>
    sessionOf(({ x }) => {
      const values = [...(x!.data as Float32Array)].map(of);
      return { y: f32([values.indexOf(Math.max(...values))], [1]) };
    });
  const session = largest((value) => value);
  const [tie, clear] = [f32([1, 1 + 2 ** -22]), f32([1, 2])].map((x) => ({ x }));
  const other = await Promise.all(
    [tie!, clear!].map(async (feeds) => ({ feeds, outputs: await largest((value) => -value).run(feeds) })),
  );
  const compare = (samples: Parameters<typeof compareSamples>[1]) =>
    compareSamples(createTestContext({ session }), samples);
  expect(await compare([other[0]!])).toEqual({ inputs: 0, error: 0, wrong: undefined });
  expect(await compare(other)).toMatchObject({ inputs: 1, error: 1, wrong: expect.stringContaining('off by 1') });
  expect(await compare([{ feeds: tie!, outputs: { y: f32([NaN], [1]) } }])).toMatchObject({
    inputs: 1,
    error: Infinity,
  });
});

test('a model that draws random numbers decides nothing, unless its numbers are not finite', async () => {
  let draws = 0;
  const ids: Tensor = { dtype: 'int64', dims: [1, 2], data: BigInt64Array.of(1n, 2n) };
  const drawing = () => createTestContext({ session: sessionOf(() => ({ y: f32(Array(++draws).fill(0.5)) })) });
  const plain = () => createTestContext({ session: sessionOf(() => ({ y: f32([0.5]) })) });
  const given = (values: readonly number[]) => [{ feeds: { x: ids }, outputs: { y: f32(values) } }];
  expect(await compareSamples(drawing(), given([0.1, 0.2]))).toEqual({ inputs: 0, error: 0, wrong: undefined });
  expect(await compareSamples(drawing(), given([NaN, 0.2]))).toMatchObject({ inputs: 1, error: Infinity });
  expect(await compareSamples(plain(), given([0.1]))).toMatchObject({
    inputs: 1,
    wrong: expect.stringMatching(/off by/),
  });
});

test('no example, no comparison', async () => {
  const context = createTestContext({ session: sessionOf(() => ({})) });
  expect(await sample({} as Handler, context)).toEqual([]);
});

test('a comparison is stricter than a golden example, and allows what correct backends differ by', () => {
  // Measured: at most 2.2e-4 of the maximum (selfie, on WebGL); MobileNetV2 on ONNX Runtime's WebGL is wrong by 1.5e-3
  // or more on photographs.
  const { relative, absolute } = REFERENCE_TOLERANCES.float32!;
  expect(relative).toBeGreaterThan(2 * 2.2e-4);
  expect(relative + absolute).toBeLessThan(1.5e-3 / 2);
});

test('variants replace floats and keep everything else', () => {
  const mask: Tensor = { dtype: 'int64', dims: [1, 2], data: BigInt64Array.of(1n, 1n) };
  const [noise, waves] = generateVariants({
    x: f32(
      Array.from({ length: 3 * 32 * 32 }, () => 0),
      [1, 3, 32, 32],
    ),
    mask,
  }) as [Tensors, Tensors];
  for (const { x, mask: kept } of [noise, waves] as unknown as { x: Tensor; mask: Tensor }[]) {
    expect(kept).toBe(mask);
    expect(x.dims).toEqual([1, 3, 32, 32]);
    const values = [...(x.data as Float32Array)];
    expect(Math.max(...values.map(Math.abs))).toBeLessThanOrEqual(1);
    expect(new Set(values.map((value) => value.toFixed(2))).size).toBeGreaterThan(10);
  }
  expect(roughness([...(waves['x']!.data as Float32Array)])).toBeLessThan(
    roughness([...(noise['x']!.data as Float32Array)]) / 3,
  );
  expect(generateVariants({ mask })).toEqual([]);
});

/** Mean difference of neighbors, in terms of the standard deviation: 1.13 for white noise of a normal distribution. */
function roughness(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
  const steps = values.slice(1).map((value, index) => Math.abs(value - values[index]!));
  return steps.reduce((sum, step) => sum + step, 0) / steps.length / deviation;
}

test('example pictures: smooth like photographs, with edges, and the same at each run', () => {
  const red = (picture: Uint8Array): number[] => Array.from({ length: 256 * 256 }, (_, index) => picture[index * 3]!);
  const gradient = red(drawExamplePicture(1, 256, 0));
  const photo = red(drawExamplePicture(3, 256, 1));
  expect(roughness(gradient)).toBeLessThan(0.05);
  // A photograph's neighbors are alike: far from noise, and rougher than the gradient.
  expect(roughness(photo)).toBeLessThan(0.3);
  expect(roughness(photo)).toBeGreaterThan(roughness(gradient));
  expect(Math.max(...photo.slice(1).map((value, index) => Math.abs(value - photo[index]!)))).toBeGreaterThan(60);
  expect(
    Math.max(
      ...gradient.slice(1).map((value, index) => (index % 256 === 255 ? 0 : Math.abs(value - gradient[index]!))),
    ),
  ).toBeLessThan(3);
  expect(Math.max(...photo) - Math.min(...photo)).toBeGreaterThan(150);
  expect(drawExamplePicture(3, 256, 1)).toEqual(drawExamplePicture(3, 256, 1));
  expect(drawExamplePicture(4, 256, 1)).not.toEqual(drawExamplePicture(3, 256, 1));
});

test('a handler of images gives pictures in the range of its own transforms; one with its own preprocess gives none', async () => {
  const session: Session = {
    ...sessionOf(() => ({})),
    inputs: [{ name: 'image', dtype: 'float32', dims: [1, 3, 32, 32] }],
  };
  const context = createTestContext({
    session,
    config: { handler: { imageProcessing: [{ resize: [32, 32] }, { toTensor: { scale: 1 } }] } },
  });
  const vision = new VisionHandler();
  await vision.initialize(context);
  const pictures = await vision.examples(context);
  expect(pictures).toHaveLength(3);
  for (const { image } of pictures) {
    expect(image!.dims).toEqual([1, 3, 32, 32]);
    expect(Math.max(...(image!.data as Float32Array))).toBeGreaterThan(150);
  }
  class Own extends VisionHandler {
    override async preprocess(): Promise<Tensors> {
      return {};
    }
  }
  const own = new Own();
  await own.initialize(createTestContext({ session }));
  expect(await own.examples(context)).toEqual([]);
});

test('a golden example of the shapes of the handler’s own example warms the backend, too', async () => {
  const golden = safetensors({ 'inputs/x': [1, 2], 'outputs/y': [1, 2] });
  const files = { 'golden.safetensors': new Blob([golden]) };
  const runsOf = async (handler: BaseHandler, dims: readonly number[]): Promise<number> => {
    let runs = 0;
    const session = {
      ...sessionOf(({ x }) => ((runs += 1), { y: x! })),
      inputs: [{ name: 'x', dtype: 'float32', dims }] as const,
    };
    const context = createTestContext({ session, files });
    instrument(handler);
    await handler.initialize(context);
    expect(await tryOut(handler, context, { golden: ['golden.safetensors'] } as unknown as Archive)).toMatchObject({
      golden: 1,
      error: 0,
    });
    return runs;
  };
  expect(await runsOf(new BaseHandler(), [1, 2])).toBe(1);
  // The batch of the example is 1, and that of the golden example too.
  expect(await runsOf(new BaseHandler(), [null as never, 2])).toBe(1);
  // What a class of the app's own does beside running the model must be tried.
  class Own extends BaseHandler {
    override inference(inputs: Tensors, context: Context): Promise<Tensors> {
      return super.inference(inputs, context);
    }
  }
  expect(await runsOf(new Own(), [1, 2])).toBe(2);
  class Declared extends Own {
    override get onlyRunsModel(): boolean {
      return true;
    }
  }
  expect(await runsOf(new Declared(), [1, 2])).toBe(1);
  class WithField extends BaseHandler {
    override inference = (inputs: Tensors): Promise<Tensors> => this.model.run(inputs);
  }
  expect(await runsOf(new WithField(), [1, 2])).toBe(2);
  // The example of this class has other shapes.
  class Wide extends BaseHandler {
    override example = (): Tensors => ({ x: f32([0, 0, 0, 0], [2, 2]) });
  }
  expect(await runsOf(new Wide(), [null as never, 2])).toBe(2);
});

/** A file of zeros in float32. */
function safetensors(dims: Readonly<Record<string, readonly [number, number]>>): Uint8Array<ArrayBuffer> {
  let end = 0;
  const header = Object.entries(dims).map(([name, shape]) => {
    const begin = end;
    end += 4 * shape[0] * shape[1];
    return [name, { dtype: 'F32', shape, data_offsets: [begin, end] }];
  });
  const text = new TextEncoder().encode(JSON.stringify(Object.fromEntries(header)));
  const bytes = new Uint8Array(8 + text.length + end);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(text.length), true);
  bytes.set(text, 8);
  return bytes;
}
