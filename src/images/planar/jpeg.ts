/**
 * Chroma upsampling and colour of libjpeg-turbo (jdsample.c "fancy upsampling", jdcolor.c), bit for bit: what Pillow
 * and every libjpeg reader show. A browser's own conversion repeats chroma samples, and is off by 1 on average, 10 at edges.
 */
import { chromaRows, type Convert, type Planes } from './planes.js';

const HALF = 1 << 15;

export const convertJpeg: Convert = (planes, window, target) => {
  const columns = planes.width + 1;
  const u = new Uint8Array(columns);
  const v = new Uint8Array(columns);
  const sums = new Uint16Array((columns >> 1) + 2);
  for (let row = 0; row < window.height; row++) {
    const y = window.y + row;
    upsample(planes, planes.u, planes.uStride, y, sums, u);
    upsample(planes, planes.v, planes.vStride, y, sums, v);
    toRgb(planes.y, y * planes.yStride + window.x, u, v, window.x, window.width, target, row * window.width * 4);
  }
};

/** One row of chroma at full width. */
function upsample(planes: Planes, plane: Uint8Array, stride: number, y: number, sums: Uint16Array, target: Uint8Array): void {
  const { halfWidth, halfHeight, narrow } = planes;
  const count = halfWidth ? (planes.width + 1) >> 1 : planes.width;
  const [near, far] = chromaRows(y, planes);
  const at = near * stride;
  if (!halfWidth) return target.set(plane.subarray(at, at + count));
  if (narrow) {
    for (let i = 0; i < count; i++) target[2 * i] = target[2 * i + 1] = plane[at + i]!;
    return;
  }
  // Three parts of the nearer sample and one of the farther, down and then across; the edges' samples are repeated.
  const other = far * stride;
  if (halfHeight) for (let i = 0; i < count; i++) sums[i + 1] = 3 * plane[at + i]! + plane[other + i]!;
  else for (let i = 0; i < count; i++) sums[i + 1] = plane[at + i]!;
  sums[0] = sums[1]!;
  sums[count + 1] = sums[count]!;
  const [shift, roundLeft, roundRight] = halfHeight ? [4, 8, 7] : [2, 1, 2];
  for (let i = 1, x = 0; i <= count; i++, x += 2) {
    const here = 3 * sums[i]!;
    target[x] = (here + sums[i - 1]! + roundLeft) >> shift;
    target[x + 1] = (here + sums[i + 1]! + roundRight) >> shift;
  }
}

/** ITU-R BT.601 at full range, in 16-bit fixed point; the clamped array clamps. */
function toRgb(luma: Uint8Array, from: number, u: Uint8Array, v: Uint8Array, x: number, count: number, target: Uint8ClampedArray, to: number): void {
  for (let i = 0, o = to; i < count; i++, o += 4) {
    const l = luma[from + i]!;
    const b = u[x + i]! - 128;
    const r = v[x + i]! - 128;
    target[o] = l + ((91881 * r + HALF) >> 16);
    target[o + 1] = l + ((-22554 * b - 46802 * r + HALF) >> 16);
    target[o + 2] = l + ((116130 * b + HALF) >> 16);
  }
}
