/** Transforms images on a GPU and on the CPU, as `window.gpu`. */
import type { Context } from '../../../src/contract/handler.js';
import type { DecodedImage, ImageInput, Pixels, Rect, Region } from '../../../src/contract/images.js';
import type { Observation } from '../../../src/contract/metrics.js';
import type { Tensor, Tensors } from '../../../src/contract/tensors.js';
import { onnxWebgpu } from '../../../src/worker/engines/onnx-webgpu.js';
import { ImageClassifier } from '../../../src/worker/tasks/pictures/image-classifier.js';
import { LandmarkModel, type PlacedOutputs, runOnCrops } from '../../../src/worker/tasks/people/landmark-model.js';
import type { Row } from '../../../src/worker/handlers/row.js';
import { createFiles } from '../../../src/worker/models/files.js';
import type { Classification } from '../../../src/worker/outputs/classification.js';
import { deviceOf } from '../../../src/worker/tensors/gpu-tensor.js';
import { decodeImage } from '../../../src/worker/images/decode.js';
import { compileGpuTransforms } from '../../../src/worker/transforms/gpu/compile.js';
import { compare, download, noisePixels } from '../../../src/worker/transforms/gpu/benchmark.js';
import { ImageCrop } from '../../../src/worker/transforms/crop-image.js';
import type { Border } from '../../../src/worker/transforms/crop-kernel.js';
import { compileTransforms, parseTransforms } from '../../../src/worker/transforms/index.js';
import { createTestContext } from '../../../src/worker/host/test-context.js';
import { isOnEdge } from '../../crop-edge.js';
import { random } from '../../random.js';

/** How an image reaches the GPU. */
const SOURCES = ['bitmap', 'RGBX', 'BGRX', 'strips'] as const;
type Source = (typeof SOURCES)[number];
const FILTERS = ['nearest', 'bilinear', 'bicubic', 'lanczos'] as const;

/** What was made of a device and not destroyed. */
interface Counted {
  readonly device: GPUDevice;
  live(): number;
}

async function openDevice(): Promise<Counted> {
  const adapter = await navigator.gpu.requestAdapter();
  if (!adapter) throw new Error('There is no adapter.');
  const device = await adapter.requestDevice();
  const live = new Set<object>();
  const counted = <T extends GPUBuffer | GPUTexture>(made: T): T => {
    const destroy = made.destroy.bind(made);
    live.add(made);
    made.destroy = () => {
      live.delete(made);
      destroy();
    };
    return made;
  };
  const { createBuffer, createTexture } = device;
  device.createBuffer = (descriptor) => counted(createBuffer.call(device, descriptor));
  device.createTexture = (descriptor) => counted(createTexture.call(device, descriptor));
  return { device, live: () => live.size };
}

/** Opaque pixels: noise, or only 0 and 255, which bicubic and Lanczos filters exceed. */
function picture(width: number, height: number, extremes: boolean): Uint8ClampedArray<ArrayBuffer> {
  const data = noisePixels(width, height);
  if (extremes) for (let i = 0; i < data.length; i++) if (i % 4 !== 3) data[i] = data[i]! > 127 ? 255 : 0;
  return data;
}

async function openImage(
  data: Uint8ClampedArray<ArrayBuffer>,
  width: number,
  height: number,
  source: Source,
): Promise<DecodedImage> {
  if (source === 'bitmap') return await decodeImage(await createImageBitmap(new ImageData(data, width, height)));
  const cut = ({ x, y, width: columns, height: rows }: Rect): Uint8ClampedArray => {
    const part = new Uint8ClampedArray(columns * rows * 4);
    for (let row = 0; row < rows; row++) {
      const from = ((y + row) * width + x) * 4;
      part.set(data.subarray(from, from + columns * 4), row * columns * 4);
    }
    return part;
  };
  const read = (rect: Rect = { x: 0, y: 0, width, height }): Pixels => ({
    format: source === 'BGRX' ? 'BGRX' : 'RGBX',
    width: rect.width,
    height: rect.height,
    // Rows with a gap between them, for one format.
    stride: source === 'BGRX' ? width * 4 : rect.width * 4,
    data: source === 'BGRX' ? data.subarray((rect.y * width + rect.x) * 4) : cut(rect),
  });
  const image = { width, height, read, close: () => {} };
  if (source !== 'strips') return image;
  return {
    ...image,
    readStrips: (rect) => ({
      format: 'RGBX',
      width: rect.width,
      height: rect.height,
      strip: (top, rows) => cut({ x: rect.x, y: rect.y + top, width: rect.width, height: rows }),
    }),
  };
}

/** Draws a size and steps. */
function drawCase(seed: number): { width: number; height: number; steps: object[]; source: Source; extremes: boolean } {
  const next = random(seed);
  const below = (n: number): number => Math.floor(next() * n);
  const one = <T>(list: readonly T[]): T => list[below(list.length)]!;
  const side = (): number => 1 + below(one([8, 60, 300]));
  const [width, height] = [1 + below(one([8, 200, 700])), 1 + below(one([8, 200, 700]))];
  let channels = 3;
  const fill = (): number | number[] =>
    channels === 1 || below(2) ? below(256) : [below(256), below(256), below(256)];
  const resize = (): object => ({
    resize: { size: [side(), side()], interpolation: one(FILTERS) },
  });
  const geometric = [
    resize,
    () => ({ resize: { size: 1 + below(90), interpolation: one(FILTERS), maxSize: 400 } }),
    () => ({ centerCrop: [side(), side()] }),
    () => ({ pad: { padding: [below(20), below(20), below(20), below(20)], fill: fill() } }),
    () => ({ letterbox: { size: [side(), side()], fill: fill(), interpolation: one(FILTERS) } }),
  ];
  const steps: object[] = Array.from({ length: below(4) }, () => one(geometric)());
  if (below(4) === 0) {
    channels = one([1, 3]);
    steps.push({ grayscale: channels });
    if (below(2)) steps.push(one(geometric)());
  } else if (below(3) === 0) steps.push({ colorOrder: 'BGR' });
  steps.push({ toTensor: below(4) ? {} : { scale: 1 } });
  if (channels === 1) steps.push({ normalize: { mean: 0.45, std: 0.22 } });
  else if (below(2)) steps.push({ normalize: { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] } });
  if (below(3) === 0) steps.push({ layout: 'NHWC' });
  return { width, height, steps, source: one(SOURCES), extremes: below(3) === 0 };
}

/**
 * Runs random cases on both, and returns how many bytes differ in which. What a resize would leave no pixel of is not a
 * case.
 */
async function compareCases(seed: number, count: number): Promise<{ run: number; differing: string[] }> {
  const { device } = await openDevice();
  const differing: string[] = [];
  let run = 0;
  for (; run < count; seed++) {
    const { width, height, steps, source, extremes } = drawCase(seed);
    const cpu = compileTransforms(parseTransforms(steps));
    try {
      cpu.outputDims(width, height);
    } catch {
      continue;
    }
    const transforms = compileGpuTransforms(device, cpu);
    const image = await openImage(picture(width, height, extremes), width, height, source);
    const { data } = await cpu.run(image);
    const row = await transforms.run(image);
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    const made = row && (await download(device, row.buffer, bytes.length));
    const wrong = made ? made.reduce((sum, value, index) => sum + Number(value !== bytes[index]), 0) : undefined;
    if (wrong !== 0)
      differing.push(`${seed}: ${wrong} of ${bytes.length}, ${source} ${width}×${height} ${JSON.stringify(steps)}`);
    image.close();
    row?.release();
    transforms.dispose();
    run++;
  }
  device.destroy();
  return { run, differing };
}

/** A crop of a picture, with what OpenCV or scipy makes of it. */
export interface CropCase {
  readonly region: Region;
  readonly columns: number;
  readonly rows: number;
  readonly border: Border;
  /** RGB. */
  readonly expected: readonly number[];
}

/** The levels by which the GPU's crops differ from others: the most, and how many numbers of all do. */
interface CropDifferences {
  readonly fromCpu: { most: number; count: number };
  readonly fromExpected: { most: number; count: number };
  all: number;
}

/** Cuts crops out of pictures that a function of the place makes, from each kind of source. */
async function compareCrops(cases: readonly CropCase[], width: number, height: number): Promise<CropDifferences> {
  const { device } = await openDevice();
  // The numbers are the levels.
  const cpu = compileTransforms(parseTransforms([{ toTensor: { scale: 1 } }, { layout: 'NHWC' }]));
  const transforms = compileGpuTransforms(device, cpu);
  const data = new Uint8ClampedArray(width * height * 4);
  for (let y = 0, to = 0; y < height; y++)
    for (let x = 0; x < width; x++, to += 4) {
      for (const channel of [0, 1, 2]) data[to + channel] = (x * 7 + y * 13 + channel * 29 + ((x * y) % 31) * 5) & 255;
      data[to + 3] = 255;
    }
  const found = { fromCpu: { most: 0, count: 0 }, fromExpected: { most: 0, count: 0 }, all: 0 };
  const add = (sum: { most: number; count: number }, difference: number): void => {
    sum.most = Math.max(sum.most, difference);
    sum.count += Number(difference !== 0);
  };
  for (const source of SOURCES) {
    const image = await openImage(data, width, height, source);
    for (const { region, columns, rows, border, expected } of cases) {
      const crop = new ImageCrop(image, region, { columns, rows }, border);
      const row = (await transforms.run(crop))!;
      const levels = new Float32Array((await download(device, row.buffer, expected.length * 4)).buffer);
      row.release();
      // The bytes of BGRX are read in the other order.
      const order = (at: number): number => (source === 'BGRX' ? at - (at % 3) + 2 - (at % 3) : at);
      const own = (await cpu.run(crop)).data;
      for (const [at, level] of levels.entries()) {
        if (border === 'cut' && isOnEdge(crop, Math.floor(at / 3))) continue;
        add(found.fromCpu, Math.abs(level - own[at]!));
        add(found.fromExpected, Math.abs(level - expected[order(at)]!));
      }
      found.all += levels.length;
    }
    image.close();
  }
  transforms.dispose();
  device.destroy();
  return found;
}

/** Classifies an image, and tells what it took. */
interface Answered {
  readonly scores: readonly number[];
  /** Bitmaps that the GPU has copied in the meantime. */
  readonly copied: number;
  /** The metrics of the last trial. */
  readonly trial: readonly Observation[];
}

/**
 * Opens a model of digits on the GPU. Software counts as a GPU here, and
 * reading a bitmap on the CPU takes a minute, by the clock. `wrong` lets the GPU copy bitmaps upside down.
 */
async function openDigits(wrong: boolean) {
  Object.defineProperty(GPUAdapterInfo.prototype, 'isFallbackAdapter', { get: () => false });
  const now = performance.now.bind(performance);
  let skew = 0;
  performance.now = () => now() + skew;
  const { getImageData } = OffscreenCanvasRenderingContext2D.prototype;
  OffscreenCanvasRenderingContext2D.prototype.getImageData = function (...args: Parameters<typeof getImageData>) {
    skew += 60_000;
    return getImageData.apply(this, args);
  };
  let copied = 0;
  const { copyExternalImageToTexture } = GPUQueue.prototype;
  GPUQueue.prototype.copyExternalImageToTexture = function (source, target, size) {
    copied += 1;
    copyExternalImageToTexture.call(this, { ...source, flipY: wrong }, target, size);
  };
  const engine = await onnxWebgpu({
    assets: `${location.origin}/node_modules/onnxruntime-web/dist/`,
    threads: 1,
    onLost: () => {},
  });
  const model = await (await fetch('/public/models/digits/digits.onnx')).blob();
  const session = await engine.open(createFiles({ 'digits.onnx': model }), 'digits.onnx', {});
  return { session, device: deviceOf(session)!, copies: () => copied };
}

/** Opens a classifier on the GPU, with and without `preprocess` overridden: see `openDigits`. */
async function openClassifiers(wrong = false) {
  const { session, device, copies } = await openDigits(wrong);
  const steps = [{ grayscale: 1 }, { resize: [28, 28] }, { toTensor: {} }];
  const config = { handler: { imageProcessing: steps, output: 'logits', labels: [...'0123456789'], topK: 10 } };
  const warnings: string[] = [];
  const open = async (handler: ImageClassifier) => {
    await handler.initialize(createTestContext({ session, config }));
    return async (...images: ImageInput[]): Promise<Answered> => {
      const before = copies();
      const context = createTestContext({ session, config, batchSize: images.length });
      const rows = await handler.handle(images, { ...context, warn: (message) => warnings.push(message) });
      const scores = (rows as Classification[]).flatMap((row) =>
        [...row].sort((a, b) => a.label.localeCompare(b.label)).map(({ score }) => score),
      );
      return { scores, copied: copies() - before, trial: context.metrics.observations };
    };
  };
  return {
    warnings,
    /** Bitmaps that the GPU has copied in all. */
    copies,
    lose: () => device.destroy(),
    classify: await open(new ImageClassifier()),
    classifyOnCpu: await open(new Reading()),
  };
}

/**
 * Opens a model of landmarks on the GPU, as the node of a workflow: see `openDigits`.
 * @returns a function that runs it on crops of a frame
 */
async function openLandmarks() {
  const { session, copies } = await openDigits(false);
  const steps = [{ grayscale: 1 }, { toTensor: {} }];
  const config = { handler: { imageProcessing: steps } };
  const warnings: string[] = [];
  const open = async (handler: LandmarkModel) => {
    await handler.initialize(createTestContext({ session, config }));
    return async (frame: ImageBitmap, regions: readonly Region[]) => {
      const before = copies();
      const trial: Observation[] = [];
      const node = {
        node: 'landmarks',
        handler,
        async handle(rows: readonly ImageInput[]) {
          const context = createTestContext({ session, config, batchSize: rows.length });
          const found = await handler.handle(rows, { ...context, warn: (message) => warnings.push(message) });
          trial.push(...context.metrics.observations);
          return found;
        },
      };
      const image = await decodeImage(frame);
      const crops = regions.map((region) => new ImageCrop(image, region, { columns: 28, rows: 28 }, 'replicate'));
      const rows = await runOnCrops(node, crops, createTestContext({ session, config }));
      image.close();
      const numbers = rows.map((row) => [...(Object.values((row as PlacedOutputs).outputs)[0]!.data as Float32Array)]);
      return { numbers, copied: copies() - before, trial: trial.filter(({ name }) => name === 'ImageTransformTime') };
    };
  };
  return { warnings, copies, run: await open(new LandmarkModel()), runOnCpu: await open(new SeenLandmarks()) };
}

/** Its inputs could be read, so they are made on the CPU. */
class SeenLandmarks extends LandmarkModel {
  protected override checkRow(row: Tensor): Tensor {
    return super.checkRow(row);
  }
}

/** Reads the tensor that the built-in preprocessing made. */
class Reading extends ImageClassifier {
  override async preprocess(data: readonly Row<ImageInput>[], context: Context): Promise<Tensors> {
    const tensors = await super.preprocess(data, context);
    for (const { data: numbers } of Object.values(tensors))
      if (numbers.length === 0) throw new Error('There are no numbers.');
    return tensors;
  }
}

export const gpu = {
  openClassifiers,
  openLandmarks,
  compareCases,
  compareCrops,
  openDevice,
  openImage,
  picture,
  compare,
  compileTransforms,
  compileGpuTransforms,
  parseTransforms,
  decodeImage,
};
Object.assign(window, { gpu });
