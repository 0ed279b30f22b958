/** The one model that everybody runs, and how. */

export const MODEL_URL = '/model/onnx/model.onnx';
export const LABELS = ['upright (0°)', 'upside down (180°)'];

export const WIDTH = 192;
export const HEIGHT = 48;
export const CHANNELS = 3;
export const MEAN = 0.5;
export const STD = 0.5;

/** The same for every contender. */
export const THREADS = 1;
export const SESSION_OPTIONS = { executionProviders: ['wasm'], graphOptimizationLevel: 'all', logSeverityLevel: 3 } as const;

export type Answer = Readonly<Record<string, number>>;

/** Logits → label → probability. */
export function toAnswer(logits: Float32Array): Answer {
  const highest = Math.max(...logits);
  const powers = Array.from(logits, (logit) => Math.exp(logit - highest));
  const sum = powers.reduce((total, power) => total + power, 0);
  return Object.fromEntries(powers.map((power, index) => [LABELS[index]!, power / sum]));
}
