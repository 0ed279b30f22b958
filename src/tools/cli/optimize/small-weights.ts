/** Weights in fewer bytes: the numbers, whatever file they are in. */

/** The kinds of smaller weights. */
export const SMALL_WEIGHTS = ['float16', 'int8'] as const;
export type SmallWeights = (typeof SMALL_WEIGHTS)[number];

/**
 * Tensors with fewer elements stay as they are, because they would save hardly more than the conversion adds to the
 * graph.
 */
export const MIN_ELEMENTS = 128;
/**
 * Tensors with fewer elements are float16 where others have 8 bits, because biases and scales are small but matter
 * much.
 */
const MIN_ELEMENTS_8_BIT = 1024;

/** Numbers from here on are rounded to infinity in float16. */
const FLOAT16_LIMIT = 65520;

/** Returns why a tensor cannot be smaller; undefined if it can. */
export function whyNot(values: Float32Array): string | undefined {
  let largest = 0;
  for (const value of values) {
    if (!Number.isFinite(value)) return 'it holds numbers that are not finite';
    largest = Math.max(largest, Math.abs(value));
  }
  return largest < FLOAT16_LIMIT ? undefined : `it holds ${largest.toPrecision(4)}, and float16 ends at 65504`;
}

/** Returns whether a tensor gets 8 bits, where 8 bits are wanted: a vector, or a small one, gets float16. */
export function isFor8Bits(dims: readonly number[]): boolean {
  return dims.length >= 2 && sizeOf(dims) >= MIN_ELEMENTS_8_BIT;
}

/** Weights of 8 bits: `value ≈ scale[channel] · q`, where the channel is the index along `axis`. */
export interface Quantized {
  readonly q: Int8Array;
  readonly axis: number;
  /** One for each index along `axis`. */
  readonly scales: Float32Array;
}

/**
 * Quantizes weights to −127..127, with a scale for each channel: the largest of the channel becomes 127. The axis of
 * the channels is the one with the smallest error: which axis of a weight has the output channels depends on the
 * operator that reads it. Symmetric quantization per channel as in Krishnamoorthi, arXiv:1806.08342, section 3.1.
 */
export function quantize(values: Float32Array, dims: readonly number[]): Quantized {
  let best: (Quantized & { readonly error: number }) | undefined;
  for (const axis of dims.keys()) {
    // The scales of such a long axis would take more bytes than 8 bits save.
    if (dims[axis]! < 2 || dims[axis]! * 16 > values.length) continue;
    const one = quantizeAlong(values, dims, axis);
    if (!best || one.error < best.error) best = one;
  }
  return best ?? quantizeAlong(values, [1, ...dims], 0);
}

function quantizeAlong(
  values: Float32Array,
  dims: readonly number[],
  axis: number,
): Quantized & { readonly error: number } {
  const inner = sizeOf(dims.slice(axis + 1));
  const count = dims[axis]!;
  const channelOf = (index: number): number => Math.floor(index / inner) % count;
  const scales = new Float32Array(count);
  for (const [index, value] of values.entries()) {
    const channel = channelOf(index);
    scales[channel] = Math.max(scales[channel]!, Math.abs(value));
  }
  // A channel of zeros, or of numbers so small that their scale would be zero, can have any scale.
  for (const [channel, largest] of scales.entries()) scales[channel] = Math.fround(largest / 127) || 1;
  const q = new Int8Array(values.length);
  let error = 0;
  for (const [index, value] of values.entries()) {
    const scale = scales[channelOf(index)]!;
    q[index] = Math.max(-127, Math.min(127, Math.round(value / scale)));
    error += (value - q[index]! * scale) ** 2;
  }
  return { q, axis, scales, error };
}

/** Returns the number of elements of a tensor with these dims. */
export function sizeOf(dims: readonly number[]): number {
  return dims.reduce((product, dim) => product * dim, 1);
}
