/**
 * When what a GPU holds is freed, on a GPU that computes nothing. What it computes is compared in
 * `browser/gpu-images.spec.ts`.
 */
import { expect, test } from '@playwright/test';
import type { Context } from '../../../../src/contract/handler.js';
import type { DecodedImage, ImageInput, Pixels } from '../../../../src/contract/images.js';
import type { Tensor, Tensors } from '../../../../src/contract/tensors.js';
import { createTestContext, VisionHandler, type Row } from '../../../../src/worker.ts';
import { GpuImages } from '../../../../src/worker/handlers/gpu-images.js';
import { compileGpuTransforms } from '../../../../src/worker/transforms/gpu/compile.js';
import { noisePixels } from '../../../../src/worker/transforms/gpu/benchmark.js';
import { compileTransforms, parseTransforms } from '../../../../src/worker/transforms/index.js';
import { FakeGpu, GPU_FLAGS } from '../../support/fake-gpu.ts';

test.beforeEach(() => void Object.assign(globalThis, GPU_FLAGS));
test.afterAll(() => Object.keys(GPU_FLAGS).forEach((name) => Reflect.deleteProperty(globalThis, name)));

const SIDE = 512;
const pixels: Pixels = { format: 'RGBX', width: SIDE, height: SIDE, stride: SIDE * 4, data: noisePixels(SIDE, SIDE) };
const image: DecodedImage = { width: SIDE, height: SIDE, read: () => pixels, close: () => {} };
const transforms = compileTransforms(parseTransforms([{ resize: [256, 256] }, { toTensor: {} }]));

const batch = (warnings: string[] = []): Context =>
  ({
    kind: 'predict',
    systemProperties: { batchSize: 1 },
    metrics: { addTime: () => {} },
    warn: (message: string) => warnings.push(message),
  }) as unknown as Context;

test('a run that has not ended when the transforms are disposed of returns no row', async () => {
  const gpu = new FakeGpu();
  let answer!: () => void;
  gpu.nextCheck = () => new Promise((resolve) => (answer = () => resolve(null)));
  const compiled = compileGpuTransforms(gpu.device, transforms);
  const running = compiled.run(image);
  await expect.poll(() => answer).toBeDefined();
  compiled.dispose();
  answer();
  await expect(running).rejects.toThrow('disposed of');
  expect(gpu.buffers.filter(({ isDestroyed }) => !isDestroyed)).toEqual([]);
});

test('a GPU that fails on one image keeps the tensors of other batches until they end', async () => {
  const gpu = new FakeGpu();
  const { data } = await transforms.run(pixels);
  gpu.contents = new Uint8Array(data.buffer);
  const images = new GpuImages(gpu.device, transforms);
  const isLive = (buffer: unknown): boolean => gpu.buffers.some((one) => one === buffer && !one.isDestroyed);
  // The first image starts a comparison, which the GPU wins.
  await expect
    .poll(async () => {
      const context = batch();
      const end = images.begin(context);
      const made = await images.run(image, context);
      end();
      return made !== undefined;
    })
    .toBe(true);
  const warnings: string[] = [];
  const [first, second] = [batch(), batch(warnings)];
  const [endFirst, endSecond] = [images.begin(first), images.begin(second)];
  const { tensor } = (await images.run(image, first))!;
  gpu.nextCheck = async () => ({ message: 'no memory' });
  expect(await images.run(image, second)).toBeUndefined();
  expect(warnings).toEqual([expect.stringContaining('no memory')]);
  endSecond();
  expect(isLive(tensor.buffer)).toBe(true);
  endFirst();
  expect(gpu.buffers.filter(({ isDestroyed }) => !isDestroyed)).toEqual([]);
});

test('the CPU transforms the images of a class that may read their numbers', async () => {
  const { device } = new FakeGpu();
  const session = {
    device,
    inputs: [{ name: 'image', dtype: 'float32', dims: ['batch', 3, null, null] }],
    outputs: [{ name: 'y', dtype: 'float32', dims: ['batch', 1] }],
    run: async (): Promise<Tensors> => ({}),
    [Symbol.asyncDispose]: async () => {},
  } as const;
  class Images extends VisionHandler {
    async mayUseGpu(): Promise<boolean> {
      const context = createTestContext({ session });
      await this.initialize(context);
      return (await this.begin(context)) !== undefined;
    }
  }
  class OwnResults extends Images {
    override postprocess = async (): Promise<never[]> => [];
  }
  class OwnHandle extends Images {
    override async handle(data: readonly Row<ImageInput>[], context: Context) {
      return await super.handle(data, context);
    }
  }
  class OwnInputs extends Images {
    override preprocess(...given: Parameters<Images['preprocess']>): Promise<Tensors> {
      return super.preprocess(...given);
    }
  }
  class OwnRows extends Images {
    protected override checkRow(row: Tensor): Tensor {
      return super.checkRow(row);
    }
  }
  class OwnRun extends Images {
    override inference(inputs: Tensors, context: Context): Promise<Tensors> {
      return super.inference(inputs, context);
    }
  }
  class DeclaredRun extends OwnRun {
    override get onlyRunsModel(): boolean {
      return true;
    }
  }
  for (const [handler, expected] of [
    [new Images(), true],
    [new OwnResults(), true],
    [new OwnHandle(), true],
    [new OwnInputs(), false],
    [new OwnRows(), false],
    [new OwnRun(), false],
    [new DeclaredRun(), true],
  ] as const)
    expect(await handler.mayUseGpu(), handler.constructor.name).toBe(expected);
});
