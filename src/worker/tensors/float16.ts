/** Returns the 16 bits of the float16 nearest to each number; ties go to the even one (IEEE 754 binary16). */
export function toFloat16(values: Float32Array): Uint16Array {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  return Uint16Array.from(bits, halfOf);
}

function halfOf(bits: number): number {
  const sign = (bits >>> 16) & 0x8000;
  const exponent = (bits >>> 23) & 0xff;
  const fraction = bits & 0x7fffff;
  if (exponent === 0xff) return sign | 0x7c00 | (fraction ? 0x200 : 0);
  const shift = exponent < 113 ? 126 - exponent : 13;
  if (shift > 24) return sign;
  const significand = fraction | (exponent === 0 ? 0 : 0x800000);
  const base = exponent < 113 ? 0 : (exponent - 113) << 10;
  const rest = significand & ((1 << shift) - 1);
  const half = 1 << (shift - 1);
  // For a normal number the hidden bit of the significand adds the 1 that `base` lacks.
  const kept = base + (significand >>> shift);
  return sign | Math.min(0x7c00, kept + (rest > half || (rest === half && kept & 1) ? 1 : 0));
}

/** Returns the exact float32 of each float16, given by its 16 bits. */
export function fromFloat16(bits: Uint16Array): Float32Array {
  return Float32Array.from(bits, (half) => {
    const sign = half & 0x8000 ? -1 : 1;
    const exponent = (half >>> 10) & 0x1f;
    const fraction = half & 0x3ff;
    if (exponent === 0x1f) return fraction ? NaN : sign * Infinity;
    return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25);
  });
}
