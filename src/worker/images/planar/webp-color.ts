/**
 * Upsamples chroma and converts colors as libwebp does (dsp/upsampling.c "fancy upsampler", dsp/yuv.h), bit for bit.
 */
import { chromaRows, type Convert } from './planes.js';

let target = new Uint8ClampedArray(0);

export const convertWebp: Convert = (planes, window) => {
  const bytes = window.width * window.height * 4;
  if (target.length < bytes) target = new Uint8ClampedArray(bytes);
  const columns = planes.width + 1;
  const u = new Uint8Array(columns);
  const v = new Uint8Array(columns);
  const count = (planes.width + 1) >> 1;
  for (let row = 0; row < window.height; row++) {
    const y = window.y + row;
    const [near, far] = chromaRows(y, planes);
    upsample(planes.u, near * planes.uStride, far * planes.uStride, count, u);
    upsample(planes.v, near * planes.vStride, far * planes.vStride, count, v);
    toRgb(planes.y, y * planes.yStride + window.x, u, v, window.x, window.width, row * window.width * 4);
  }
  return target.subarray(0, bytes);
};

/**
 * Doubles samples: nine parts of the nearest one, three of each of its neighbors, one of the diagonal neighbor;
 * computed from two diagonals.
 */
function upsample(plane: Uint8Array, near: number, far: number, count: number, row: Uint8Array): void {
  row[0] = (3 * plane[near]! + plane[far]! + 2) >> 2;
  for (let i = 1; i < count; i++) {
    const nearLeft = plane[near + i - 1]!;
    const nearRight = plane[near + i]!;
    const farLeft = plane[far + i - 1]!;
    const farRight = plane[far + i]!;
    const sum = nearLeft + nearRight + farLeft + farRight + 8;
    row[2 * i - 1] = (((sum + 2 * (nearRight + farLeft)) >> 3) + nearLeft) >> 1;
    row[2 * i] = (((sum + 2 * (nearLeft + farRight)) >> 3) + nearRight) >> 1;
  }
  row[2 * count - 1] = (3 * plane[near + count - 1]! + plane[far + count - 1]! + 2) >> 2;
}

/**
 * Converts ITU-R BT.601 at studio range, in 14-bit fixed point; products are shifted by 8 bits, and the target array
 * clamps.
 */
function toRgb(
  luma: Uint8Array,
  from: number,
  u: Uint8Array,
  v: Uint8Array,
  x: number,
  count: number,
  to: number,
): void {
  for (let i = 0, o = to; i < count; i++, o += 4) {
    const l = (luma[from + i]! * 19077) >> 8;
    const b = u[x + i]!;
    const r = v[x + i]!;
    target[o] = (l + ((r * 26149) >> 8) - 14234) >> 6;
    target[o + 1] = (l - ((b * 6419) >> 8) - ((r * 13320) >> 8) + 8708) >> 6;
    target[o + 2] = (l + ((b * 33050) >> 8) - 17685) >> 6;
  }
}
