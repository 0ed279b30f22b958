/**
 * Upsamples chroma and converts colors as libjpeg-turbo does (jdsample.c "fancy upsampling", jdcolor.c), bit for bit,
 * and so as Pillow does. A browser's own conversion repeats chroma samples, and differs by 1 on average and by 10 at
 * edges.
 */
import type { Rect } from '../../../contract/images.js';
import { bytesOf, instantiate } from '../../tensors/wasm-kernel.js';
import { chromaRows, blockOffsets, type Convert, type Planes } from './planes.js';
import { YCC_WASM } from './ycc.wasm.js';

/**
 * Computes one row at a time. There are two, with the same results: WebAssembly SIMD (`ycc.wat`), and JavaScript for
 * pages whose Content Security Policy forbids WebAssembly. Works on memory of its own, in which the caller places rows.
 * All offsets are in bytes.
 */
export interface ColorKernel {
  readonly name: 'wasm' | 'js';
  /**
   * Returns the kernel's memory, of at least `bytes` bytes. It never shrinks. When it grows, earlier contents and views
   * are lost.
   */
  memory(bytes: number): Uint8Array;
  /**
   * Doubles `count` samples horizontally. Each result is three parts of the nearer and one part of the farther sample,
   * in both directions.
   * @param near the row of samples to double
   * @param far the row beside it, or `near` itself
   * @param left added to each left result before its division by 16
   * @param right added to each right result before its division by 16
   * @param sums an even offset with room for 2 × (count + 2) bytes, and `SLACK`
   */
  upsample(near: number, far: number, count: number, left: number, right: number, sums: number, target: number): void;
  /** Converts `count` pixels of full-range BT.601 to RGBX, rounded as in libjpeg. X has any value. */
  convert(y: number, u: number, v: number, count: number, target: number): void;
}

/** How many bytes a kernel may read and write beyond its rows. */
const SLACK = 64;

let kernel: ColorKernel | undefined;

export const convertJpeg: Convert = (planes, window) =>
  convertWith((kernel ??= createWasmColorKernel() ?? createJsColorKernel()), planes, window);

/** Copies the rows that `window` needs into the kernel's memory, and converts them there. */
export function convertWith(kernel: ColorKernel, planes: Planes, window: Rect): Uint8Array {
  const { yStride, uStride, vStride, width, halfWidth } = planes;
  const bottom = window.y + window.height - 1;
  const top = Math.min(...chromaRows(window.y, planes));
  const chroma = Math.max(...chromaRows(bottom, planes)) + 1 - top;
  const columns = halfWidth ? (width + 1) >> 1 : width;

  const room = blockOffsets(SLACK, [
    window.height * yStride,
    chroma * uStride,
    chroma * vStride,
    2 * (columns + 2),
    2 * columns,
    2 * columns,
    window.height * window.width * 4,
  ]);
  const [y, u, v, sums, uRow, vRow, target] = room.offsets as [number, number, number, number, number, number, number];
  const memory = kernel.memory(room.bytes);
  memory.set(planes.y.subarray(window.y * yStride, (bottom + 1) * yStride), y);
  memory.set(planes.u.subarray(top * uStride, (top + chroma) * uStride), u);
  memory.set(planes.v.subarray(top * vStride, (top + chroma) * vStride), v);

  /** Returns the position of the row's chroma at full width. */
  const widen = (plane: number, stride: number, near: number, far: number, row: number): number => {
    const from = plane + (near - top) * stride;
    if (!halfWidth) return from;
    if (planes.narrow)
      for (let i = 0; i < columns; i++) memory[row + 2 * i] = memory[row + 2 * i + 1] = memory[from + i]!;
    // Without a row beside it, a sample is four times the nearest: libjpeg's (3a + b + 1) / 4, (3a + b + 2) / 4 in
    // sixteenths.
    else if (planes.halfHeight) kernel.upsample(from, plane + (far - top) * stride, columns, 8, 7, sums, row);
    else kernel.upsample(from, from, columns, 4, 8, sums, row);
    return row;
  };
  for (let line = 0; line < window.height; line++) {
    const [near, far] = chromaRows(window.y + line, planes);
    const uAt = widen(u, uStride, near, far, uRow) + window.x;
    const vAt = widen(v, vStride, near, far, vRow) + window.x;
    kernel.convert(y + line * yStride + window.x, uAt, vAt, window.width, target + line * window.width * 4);
  }
  return memory.subarray(target, target + window.height * window.width * 4);
}

/** Creates a kernel; undefined where WebAssembly or its SIMD is missing, or a Content Security Policy forbids it. */
export function createWasmColorKernel(): ColorKernel | undefined {
  const exports = instantiate<Pick<ColorKernel, 'upsample' | 'convert'> & { readonly memory: WebAssembly.Memory }>(
    YCC_WASM,
  );
  if (!exports) return undefined;
  const { memory, upsample, convert } = exports;
  return { name: 'wasm', memory: (bytes) => bytesOf(memory, bytes), upsample, convert };
}

const HALF = 1 << 15;

/** Creates the kernel that runs everywhere. */
export function createJsColorKernel(): ColorKernel {
  let memory = new Uint8Array(0);
  let clamped = new Uint8ClampedArray(memory.buffer);
  let wide = new Uint16Array(memory.buffer);
  return {
    name: 'js',
    memory(bytes) {
      if (memory.length < bytes) {
        memory = new Uint8Array((bytes + 1) & ~1);
        clamped = new Uint8ClampedArray(memory.buffer);
        wide = new Uint16Array(memory.buffer);
      }
      return memory;
    },
    upsample(near, far, count, left, right, sums, target) {
      const first = sums >> 1;
      for (let i = 0; i < count; i++) wide[first + 1 + i] = 3 * memory[near + i]! + memory[far + i]!;
      wide[first] = wide[first + 1]!;
      wide[first + count + 1] = wide[first + count]!;
      for (let i = first + 1, to = target; i <= first + count; i++, to += 2) {
        const here = 3 * wide[i]!;
        memory[to] = (here + wide[i - 1]! + left) >> 4;
        memory[to + 1] = (here + wide[i + 1]! + right) >> 4;
      }
    },
    convert(y, u, v, count, target) {
      for (let i = 0, to = target; i < count; i++, to += 4) {
        const l = memory[y + i]!;
        const b = memory[u + i]! - 128;
        const r = memory[v + i]! - 128;
        clamped[to] = l + ((91881 * r + HALF) >> 16);
        clamped[to + 1] = l + ((-22554 * b - 46802 * r + HALF) >> 16);
        clamped[to + 2] = l + ((116130 * b + HALF) >> 16);
      }
    },
  };
}
