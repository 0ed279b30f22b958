import type { Candidate } from '../contract/backends.js';
import type { Precision } from '../contract/precisions.js';

/** Bytes that a worker and an engine take up before a model is open. */
const EMPTY_BYTES = 7e7;

/**
 * How much memory ONNX Runtime's WASM takes for a model, as a multiple of its files: they are read into memory, copied
 * into the engine's, and laid out anew; half-precision and 4-bit weights become larger there. It is the peak of the
 * page's process while the model is opened in Chromium 156, above that of an empty engine, measured with
 * SmolLM2-135M, all-MiniLM-L6-v2 and bge-small-en.
 */
const WASM_COPIES: Readonly<Partial<Record<Precision, number>>> = { fp32: 2.3, q8: 2.7, fp16: 3.9, q4: 4.5 };
/** That of a precision that was not measured. */
const USUAL_COPIES = 2.6;

/** A model's file, with those of its weights. */
interface Weights {
  readonly precision?: Precision | undefined;
  readonly bytes: number | undefined;
}

/**
 * Returns about how many bytes of memory the files of a model take on a backend; undefined for a server, and if a size
 * is not known.
 */
export function memoryOf({ name }: Pick<Candidate, 'name'>, files: readonly Weights[]): number | undefined {
  if (name === 'remote') return undefined;
  const copies = files.map(
    ({ precision, bytes = NaN }) => ((precision && WASM_COPIES[precision]) ?? USUAL_COPIES) * bytes,
  );
  const sum = Math.round(copies.reduce((total, one) => total + one, EMPTY_BYTES));
  return Number.isNaN(sum) ? undefined : sum;
}
