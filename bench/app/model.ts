/** The one model that everybody runs, and how. */

/** The folder of the model, in the page's URL; a worker has it as its name. */
export const MODEL =
  (typeof document === 'undefined'
    ? (globalThis as { name?: string }).name
    : new URLSearchParams(location.search).get('model')) || 'model';
export const MODEL_URL = `/${MODEL}/onnx/model.onnx`;
export const LABELS = ['Drawing', 'Hentai', 'Neutral', 'Porn', 'Sexy'];

/** RGB, 0..1, channels first. */
export const WIDTH = 224;
export const HEIGHT = 224;
export const CHANNELS = 3;

/** The same for every contender. */
export const THREADS = 1;
export const SESSION_OPTIONS = {
  executionProviders: ['wasm'],
  graphOptimizationLevel: 'all',
  logSeverityLevel: 3,
} as const;

export type Answer = Readonly<Record<string, number>>;

/** Logits → label → probability. */
export function toAnswer(logits: Float32Array): Answer {
  const highest = Math.max(...logits);
  const powers = Array.from(logits, (logit) => Math.exp(logit - highest));
  const sum = powers.reduce((total, power) => total + power, 0);
  return Object.fromEntries(powers.map((power, index) => [LABELS[index]!, power / sum]));
}
