/**
 * The passes in WGSL. All arithmetic but that of `crop` is on integers, as in Pillow: WGSL guarantees their results,
 * while a GPU may compute a division of floats with another last bit. So each number of the tensor is looked up, as the
 * bits of a float32, by the byte that it stands for.
 *
 * `crop` is on float32, as on the CPU (`crop-region.ts`): sums and products alone, each rounded before the next one.
 */
import { PRECISION_BITS } from '../taps.js';

/**
 * Where the first pass reads pixels: a texture, or words of four bytes in the order RGBX or BGRX. The passes after it
 * read RGBX.
 */
export type PixelSource = 'texture' | 'RGBX' | 'BGRX';

/** The side of the square of pixels that a workgroup computes. */
export const TILE = 16;

/** The bindings of a pass. Those of `transparent` exist for textures only. */
export const BINDINGS = { params: 0, lookedUp: 1, source: 2, result: 3, transparent: 4 } as const;

const READ_TEXTURE = `
@group(0) @binding(${BINDINGS.source}) var source: texture_2d<f32>;
@group(0) @binding(${BINDINGS.transparent}) var<storage, read_write> transparent: atomic<u32>;

fn pixel(x: i32, y: i32) -> vec3<i32> {
  let color = textureLoad(source, vec2<i32>(x, y), 0);
  if (color.a < 1.0) { atomicStore(&transparent, 1u); }
  return vec3<i32>(floor(color.rgb * 255.0 + 0.5));
}`;

const readWords = (order: 'rgb' | 'bgr'): string => `
@group(0) @binding(${BINDINGS.source}) var<storage, read> source: array<u32>;

fn pixel(x: i32, y: i32) -> vec3<i32> {
  let word = source[y * params.sourceWidth + x];
  return vec3<i32>(vec3<u32>(word, word >> 8u, word >> 16u) & vec3<u32>(255u)).${order};
}`;

const READ: Readonly<Record<PixelSource, string>> = {
  texture: READ_TEXTURE,
  RGBX: readWords('rgb'),
  BGRX: readWords('bgr'),
};

/** Returns the module whose entry points are the passes. */
export function shaderOf(source: PixelSource): string {
  return `
struct Params {
  width: i32, height: i32,
  sourceWidth: i32, sourceHeight: i32,
  x: i32, y: i32,
  weights: i32,
  fill: u32,
  channels: i32, reversed: i32, last: i32,
  border: i32, zero: u32,
}

@group(0) @binding(${BINDINGS.params}) var<uniform> params: Params;
@group(0) @binding(${BINDINGS.lookedUp}) var<storage, read> lookedUp: array<i32>;
@group(0) @binding(${BINDINGS.result}) var<storage, read_write> result: array<u32>;
${READ[source]}

fn isOutside(at: vec2<i32>) -> bool {
  return at.x >= params.width || at.y >= params.height;
}

fn write(at: vec2<i32>, color: vec3<i32>) {
  result[at.y * params.width + at.x] = u32(color.r | (color.g << 8u) | (color.b << 16u));
}

/** Rounds sums of weights in units of 2^-${PRECISION_BITS}, which begin with a half, to bytes. */
fn toBytes(sums: vec3<i32>) -> vec3<i32> {
  return clamp(sums >> vec3<u32>(${PRECISION_BITS}u), vec3<i32>(0), vec3<i32>(255));
}

const HALF = vec3<i32>(1 << ${PRECISION_BITS - 1}u);

@compute @workgroup_size(${TILE}, ${TILE})
fn scaleColumns(@builtin(global_invocation_id) id: vec3<u32>) {
  let at = vec2<i32>(id.xy);
  if (isOutside(at)) { return; }
  let start = lookedUp[at.x];
  let count = lookedUp[params.width + at.x];
  var sums = HALF;
  for (var tap = 0; tap < count; tap++) {
    sums += lookedUp[(2 + tap) * params.width + at.x] * pixel(start + tap, at.y + params.y);
  }
  write(at, toBytes(sums));
}

@compute @workgroup_size(${TILE}, ${TILE})
fn scaleRows(@builtin(global_invocation_id) id: vec3<u32>) {
  let at = vec2<i32>(id.xy);
  if (isOutside(at)) { return; }
  let start = lookedUp[at.y];
  let count = lookedUp[params.height + at.y];
  var sums = HALF;
  for (var tap = 0; tap < count; tap++) {
    sums += lookedUp[(2 + tap) * params.height + at.y] * pixel(at.x + params.x, start + tap);
  }
  write(at, toBytes(sums));
}

@compute @workgroup_size(${TILE}, ${TILE})
fn nearest(@builtin(global_invocation_id) id: vec3<u32>) {
  let at = vec2<i32>(id.xy);
  if (isOutside(at)) { return; }
  write(at, pixel(lookedUp[at.x], lookedUp[params.width + at.y]));
}

@compute @workgroup_size(${TILE}, ${TILE})
fn place(@builtin(global_invocation_id) id: vec3<u32>) {
  let at = vec2<i32>(id.xy);
  if (isOutside(at)) { return; }
  let x = at.x + params.x;
  let y = at.y + params.y;
  if (x >= 0 && y >= 0 && x < params.sourceWidth && y < params.sourceHeight) {
    write(at, pixel(x, y));
  } else {
    result[at.y * params.width + at.x] = params.fill;
  }
}

@compute @workgroup_size(${TILE}, ${TILE})
fn gray(@builtin(global_invocation_id) id: vec3<u32>) {
  let at = vec2<i32>(id.xy);
  if (isOutside(at)) { return; }
  let color = pixel(at.x + params.x, at.y + params.y);
  write(at, vec3<i32>((color.r * 19595 + color.g * 38470 + color.b * 7471 + 0x8000) >> 16u));
}

@compute @workgroup_size(${TILE}, ${TILE})
fn lookUp(@builtin(global_invocation_id) id: vec3<u32>) {
  let at = vec2<i32>(id.xy);
  if (isOutside(at)) { return; }
  let color = pixel(at.x, at.y);
  let bytes = select(color, color.bgr, params.reversed == 1);
  let first = at.y * params.width + at.x;
  for (var channel = 0; channel < params.channels; channel++) {
    let to = select(channel * params.width * params.height + first, first * params.channels + channel, params.last == 1);
    result[to] = bitcast<u32>(lookedUp[channel * 256 + bytes[channel]]);
  }
}

/** A position along an axis, and the weights of the pixels before and after it. */
struct SamplePoint { pixel: i32, isBetween: bool, before: f32, after: f32 }

/** Adds two numbers of 64 bits, in units of 2^-48 pixels. */
fn samplePoint(first: i32, second: i32) -> SamplePoint {
  let addend = bitcast<u32>(lookedUp[first + 1]);
  let low = addend + bitcast<u32>(lookedUp[second + 1]);
  let sum = lookedUp[first] + lookedUp[second] + select(0, 1, low < addend);
  let high = bitcast<u32>(sum) & 0xffffu;
  let borrow = select(0u, 1u, low != 0u);
  return SamplePoint(sum >> 16u, (high | low) != 0u, partOfPixel(65536u - high - borrow, 0u - low), partOfPixel(high, low));
}

fn partOfPixel(high: u32, low: u32) -> f32 {
  return f32(high) * 0x1p-16f + f32(low) * 0x1p-48f;
}

/** Keeps a GPU from computing a product and a sum in one, which would round once: it does not know the zero. */
fn rounded(value: vec3<f32>) -> vec3<f32> {
  return bitcast<vec3<f32>>(bitcast<vec3<u32>>(value) ^ vec3<u32>(params.zero));
}

fn mixed(first: vec3<f32>, second: vec3<f32>, at: SamplePoint) -> vec3<f32> {
  return rounded(rounded(first * at.before) + rounded(second * at.after));
}

/** Returns a position whose pixels beyond the image have no weight. */
fn faded(at: SamplePoint, size: i32) -> SamplePoint {
  let isBefore = at.pixel >= 0 && at.pixel < size;
  let isAfter = at.pixel >= -1 && at.pixel < size - 1;
  return SamplePoint(at.pixel, at.isBetween, select(0.0, at.before, isBefore), select(0.0, at.after, isAfter));
}

fn isBeyond(at: SamplePoint, size: i32) -> bool {
  return at.pixel < 0 || at.pixel >= size || (at.pixel == size - 1 && at.isBetween);
}

@compute @workgroup_size(${TILE}, ${TILE})
fn crop(@builtin(global_invocation_id) id: vec3<u32>) {
  let at = vec2<i32>(id.xy);
  if (isOutside(at)) { return; }
  let size = vec2<i32>(params.sourceWidth, params.sourceHeight);
  let column = 4 * at.x;
  let row = 4 * (params.width + at.y);
  var x = samplePoint(column, row);
  var y = samplePoint(column + 2, row + 2);
  if (params.border == 2 && (isBeyond(x, size.x) || isBeyond(y, size.y))) {
    write(at, vec3<i32>(0));
    return;
  }
  if (params.border != 0) {
    x = faded(x, size.x);
    y = faded(y, size.y);
  }
  let before = clamp(vec2<i32>(x.pixel, y.pixel), vec2<i32>(0), size - 1);
  let after = clamp(vec2<i32>(x.pixel, y.pixel) + 1, vec2<i32>(0), size - 1);
  let upper = mixed(vec3<f32>(pixel(before.x, before.y)), vec3<f32>(pixel(after.x, before.y)), x);
  let lower = mixed(vec3<f32>(pixel(before.x, after.y)), vec3<f32>(pixel(after.x, after.y)), x);
  write(at, vec3<i32>(round(mixed(upper, lower, y))));
}
`;
}
