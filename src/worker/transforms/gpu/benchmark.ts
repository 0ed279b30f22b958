/** Compares a GPU with the CPU, on one image. */
import type { DecodedImage } from '../../../contract/images.js';
import type { CompiledTransforms } from '../compile.js';
import type { GpuTransforms } from './compile.js';

/** What a comparison has found. */
export interface Benchmark {
  /** Whether both made the same bytes. */
  readonly isEqual: boolean;
  /** Milliseconds of an image: the least of some runs. Infinity if the bytes differ. */
  readonly cpu: number;
  readonly gpu: number;
}

const ROUNDS = 3;

/**
 * Transforms an image on the CPU and on a GPU, in turns. A GPU's time includes the wait for its answer.
 * @param open returns the image, each time as another object, as another frame would be
 * @returns undefined if the GPU cannot transform this image
 * @throws what either of them throws
 */
export async function compare(
  open: () => DecodedImage,
  cpu: CompiledTransforms,
  gpu: GpuTransforms,
  device: GPUDevice,
): Promise<Benchmark | undefined> {
  const expected = await cpu.run(open());
  const row = await gpu.run(open());
  if (!row) return undefined;
  const actual = await download(device, row.buffer, expected.data.byteLength).finally(row.release);
  const bytes = new Uint8Array(expected.data.buffer, expected.data.byteOffset, expected.data.byteLength);
  const isEqual = actual.every((value, index) => value === bytes[index]);
  const times = { cpu: Infinity, gpu: Infinity };
  if (!isEqual) return { isEqual, ...times };
  for (let round = 0; round < ROUNDS; round++) {
    const started = performance.now();
    await cpu.run(open(), expected.data);
    const between = performance.now();
    const again = await gpu.run(open());
    await device.queue.onSubmittedWorkDone();
    again?.release();
    times.cpu = Math.min(times.cpu, between - started);
    times.gpu = Math.min(times.gpu, performance.now() - between);
  }
  return { isEqual, ...times };
}

/** Returns the first bytes of a buffer. */
export async function download(device: GPUDevice, buffer: GPUBuffer, bytes: number): Promise<Uint8Array> {
  const copy = device.createBuffer({ size: bytes, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  try {
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(buffer, 0, copy, 0, bytes);
    device.queue.submit([encoder.finish()]);
    await copy.mapAsync(GPUMapMode.READ);
    return new Uint8Array(copy.getMappedRange()).slice();
  } finally {
    copy.destroy();
  }
}

/** Returns an opaque picture of noise as RGBX: the hardest one to resize alike. */
export function noisePixels(width: number, height: number): Uint8ClampedArray<ArrayBuffer> {
  const words = new Uint32Array(width * height);
  let state = 1;
  // Marsaglia's xorshift, 32 bits.
  for (let index = 0; index < words.length; index++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    words[index] = state | 0xff000000;
  }
  return new Uint8ClampedArray(words.buffer);
}
