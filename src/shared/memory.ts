import type { Candidate } from '../contract/backends.js';
import type { Precision } from '../contract/precisions.js';

/** Bytes that a worker and an engine take up before a model is open, 70 MB, and some of what is read ahead. */
const EMPTY_BYTES = 8e7;

/**
 * How much memory ONNX Runtime's WASM takes for a model, as a multiple of its files: they are copied into the engine's
 * memory, and laid out anew; half-precision and 4-bit weights become larger there. It is the peak of the page's process
 * while the model is opened in Chromium 156, above that of an empty engine, measured with SmolLM2-135M,
 * all-MiniLM-L6-v2 and bge-small-en. The part `published` of the benchmark compares it.
 */
const WASM_COPIES: Readonly<Partial<Record<Precision, number>>> = { fp32: 1.9, q8: 3.2, fp16: 3.9, q4: 3 };
/** What Whisper takes beside that, with its merged decoder, measured with Whisper tiny and base in fp32 and q8. */
const WHISPER_BYTES = 1.5e8;
/** That of a precision that was not measured. */
const USUAL_COPIES = 2.6;

/** A model's file, with those of its weights. */
interface Weights {
  readonly path?: string | undefined;
  readonly precision?: Precision | undefined;
  readonly bytes: number | undefined;
}

/**
 * Returns about how many bytes of memory the files of a model take on a backend; undefined for a server, and if a size
 * is not known.
 * @param handler of the model, if it is known
 */
export function memoryOf(
  { name }: Pick<Candidate, 'name'>,
  files: readonly Weights[],
  handler?: string,
): number | undefined {
  if (name === 'remote') return undefined;
  const isWhisper = handler === 'speech_to_text' && files.some(({ path = '' }) => /decoder\w*_merged/.test(path));
  const copies = files.map(
    ({ precision, bytes }) => ((precision && WASM_COPIES[precision]) ?? USUAL_COPIES) * (bytes ?? NaN),
  );
  const sum = Math.round(copies.reduce((total, one) => total + one, EMPTY_BYTES + (isWhisper ? WHISPER_BYTES : 0)));
  return Number.isNaN(sum) ? undefined : sum;
}
