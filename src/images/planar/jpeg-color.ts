/**
 * Upsamples chroma and converts colors as libjpeg-turbo does (jdsample.c "fancy upsampling", jdcolor.c), bit for bit, and so as Pillow does.
 * A browser's own conversion repeats chroma samples, and differs by 1 on average and by 10 at edges.
 */
import type { Rect } from '../../contract/images.js';
import { createColorKernel, SLACK, type ColorKernel } from './color-kernel.js';
import { place } from './place.js';
import { chromaRows, type Convert, type Planes } from './planes.js';

let kernel: ColorKernel | undefined;

export const convertJpeg: Convert = (planes, window) => convertWith((kernel ??= createColorKernel()), planes, window);

/** Copies the rows that `window` needs into the kernel's memory, and converts them there. */
export function convertWith(kernel: ColorKernel, planes: Planes, window: Rect): Uint8Array {
  const { yStride, uStride, vStride, width, halfWidth } = planes;
  const bottom = window.y + window.height - 1;
  const top = Math.min(...chromaRows(window.y, planes));
  const chroma = Math.max(...chromaRows(bottom, planes)) + 1 - top;
  const columns = halfWidth ? (width + 1) >> 1 : width;

  const room = place(SLACK, [
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
    // Without a row beside it, a sample is four times the nearest: libjpeg's (3a + b + 1) / 4, (3a + b + 2) / 4 in sixteenths.
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
