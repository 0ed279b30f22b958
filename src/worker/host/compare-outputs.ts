import type { DType, ExpectedTensor, Golden, Tensor, Tensors } from '../../contract/tensors.js';
import { fromFloat16 } from '../tensors/float16.js';

/**
 * How far an output may be from the expected one: `|got − expected| ≤ absolute + relative · max|expected|`, the maximum
 * over the whole tensor. Other dtypes (integers, bool, strings) must be equal.
 */
export type Tolerances = Readonly<Partial<Record<DType, { readonly absolute: number; readonly relative: number }>>>;

/** Tolerances for golden examples, which another engine on another machine has computed. */
export const GOLDEN_TOLERANCES: Tolerances = {
  float64: { absolute: 1e-4, relative: 1e-3 },
  float32: { absolute: 1e-4, relative: 1e-3 },
  float16: { absolute: 5e-3, relative: 1e-2 },
};

/**
 * Tolerances for a comparison of two backends with the same model and the same inputs. Correct backends differ by 1e-7
 * to 2.2e-4 of the maximum (selfie, on WebGL), because they add numbers in a different order. ONNX Runtime's WebGL was
 * wrong by 1.5e-3 on photographs.
 */
export const REFERENCE_TOLERANCES: Tolerances = {
  float64: { absolute: 1e-5, relative: 5e-4 },
  float32: { absolute: 1e-5, relative: 5e-4 },
  float16: { absolute: 5e-3, relative: 1e-2 },
};

/**
 * The same for a model in half precision: a GPU adds numbers in float16, WASM in float32, and the outputs are often
 * float32.
 */
export const HALF_REFERENCE_TOLERANCES: Tolerances = {
  ...REFERENCE_TOLERANCES,
  float32: { absolute: 5e-3, relative: 1e-2 },
};

export interface OutputComparison {
  /** What is wrong, as text; undefined if everything is within tolerance. */
  readonly wrong: string | undefined;
  /** Largest absolute difference over all numeric outputs. */
  readonly error: number;
}

/**
 * Compares outputs with the expected ones: names, dtypes, dims, and every element. Infinities and NaN must be at the
 * same positions.
 */
export function compareOutputs(
  got: Tensors,
  expected: Golden['outputs'],
  tolerances: Tolerances = GOLDEN_TOLERANCES,
): OutputComparison {
  let error = 0;
  for (const [name, right] of Object.entries(expected)) {
    const output = got[name];
    if (!output) return { wrong: `output "${name}" is missing`, error: Infinity };
    if (output.dtype !== right.dtype || output.dims.join() !== right.dims.join()) {
      return {
        wrong: `output "${name}" is ${output.dtype} [${output.dims.join(', ')}], expected ${right.dtype} [${right.dims.join(', ')}]`,
        error: Infinity,
      };
    }
    const one = compareTensor(output, right, tolerances[right.dtype]);
    error = Math.max(error, one.error);
    if (one.wrong !== undefined) return { wrong: `output "${name}" ${one.wrong}`, error };
  }
  return { wrong: undefined, error };
}

/** The agreement by which only the labels of floats are compared. */
const ANY: Tolerances = Object.fromEntries(
  Object.keys(GOLDEN_TOLERANCES).map((dtype) => [dtype, { absolute: Infinity, relative: 0 }]),
);

/**
 * Compares the labels of outputs with the expected ones: along the last axis of floats, the largest number must be at
 * the same position in each row; other dtypes must be equal. Floats must be finite where the expected ones are. An
 * expected output of which only a sample is known, or with fewer than two numbers in a row, shows no label.
 */
export function compareLabels(got: Tensors, expected: Golden['outputs']): OutputComparison {
  const comparison = compareOutputs(got, expected, ANY);
  if (comparison.wrong !== undefined) return comparison;
  const wrong = Object.entries(expected)
    .filter(([, { dtype }]) => GOLDEN_TOLERANCES[dtype])
    .map(([name, right]) => compareRows(name, numbers(right.dtype, got[name]!.data), right))
    .find((why) => why !== undefined);
  return { wrong, error: comparison.error };
}

function compareRows(
  name: string,
  values: Float32Array,
  { dtype, dims, data, stride = 1 }: ExpectedTensor,
): string | undefined {
  const size = dims.at(-1) ?? 1;
  if (stride > 1 || size < 2)
    return `output "${name}", [${dims.join(', ')}], shows no labels: the golden example has ${stride > 1 ? 'only a sample of it' : 'one number a row'}`;
  const wanted = numbers(dtype, data);
  const best = (row: Float32Array): number => row.reduce((top, value, index) => (value > row[top]! ? index : top), 0);
  for (let from = 0; from < wanted.length; from += size) {
    const [label, right] = [values, wanted].map((all) => best(all.subarray(from, from + size)));
    if (label !== right)
      return `output "${name}" has its best label at ${label} in row ${from / size}, expected ${right}`;
  }
  return undefined;
}

function compareTensor(
  { dtype, data }: Tensor,
  { data: right, stride = 1 }: ExpectedTensor,
  tolerance: Tolerances[DType],
): OutputComparison {
  if (!tolerance) {
    const at = right.findIndex((value: unknown, index: number) => data[index * stride] !== value);
    if (at < 0) return { wrong: undefined, error: 0 };
    const error = typeof right[at] === 'string' ? Infinity : Math.abs(Number(data[at * stride]) - Number(right[at]));
    return { wrong: `is ${String(data[at * stride])} at ${at * stride}, expected ${String(right[at])}`, error };
  }
  const [values, wanted] = [numbers(dtype, data), numbers(dtype, right)];
  let scale = 0;
  for (const value of wanted) if (Number.isFinite(value)) scale = Math.max(scale, Math.abs(value));
  const allowed = tolerance.absolute + tolerance.relative * scale;
  let worst = 0;
  let at = 0;
  for (let index = 0; index < wanted.length; index++) {
    const difference = apart(values[index * stride]!, wanted[index]!);
    if (difference > worst) [worst, at] = [difference, index];
  }
  if (worst <= allowed && worst < Infinity) return { wrong: undefined, error: worst };
  return {
    wrong: `is off by ${worst.toPrecision(3)} at ${at * stride} (${values[at * stride]} for ${wanted[at]}), allowed is ${allowed.toPrecision(3)}`,
    error: worst,
  };
}

function apart(got: number, expected: number): number {
  if (Object.is(got, expected) || got === expected) return 0;
  const difference = Math.abs(got - expected);
  return Number.isNaN(difference) ? Infinity : difference;
}

function numbers(dtype: DType, data: Tensor['data']): Float32Array {
  return dtype === 'float16' ? fromFloat16(data as Uint16Array) : (data as Float32Array);
}

/**
 * Describes the first output that has a number that is not finite; undefined if all numbers are. Only floats can be
 * infinite or NaN.
 */
export function findNonFinite(outputs: Tensors): string | undefined {
  for (const [name, { dtype, data }] of Object.entries(outputs)) {
    if (!GOLDEN_TOLERANCES[dtype]) continue;
    const values = numbers(dtype, data);
    for (let index = 0; index < values.length; index++) {
      if (!Number.isFinite(values[index])) return `output "${name}" is ${values[index]} at ${index}`;
    }
  }
  return undefined;
}
