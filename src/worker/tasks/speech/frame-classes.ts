import { TabServeError } from '../../../contract/errors.js';
import type { Tensors } from '../../../contract/tensors.js';
import { numbersOf } from '../../outputs/rows.js';
import { toFloats } from '../../tensors/tensors.js';
import type { Heard } from './recognizer.js';

/**
 * Returns the likeliest class of each frame of a CTC model's output, `[1, frames, classes]`.
 * @throws `inference-failed` if a frame has a score that is no number
 */
export function frameClasses(outputs: Tensors, name: string): readonly Heard[] {
  const output = numbersOf(outputs, name);
  const scores = toFloats(output);
  const classes = output.dims.at(-1)!;
  return Array.from({ length: scores.length / classes }, (_, frame) => ({
    id: likeliest(scores.subarray(frame * classes, (frame + 1) * classes), frame),
    start: frame,
    end: frame + 1,
  }));
}

/** Returns the class with the highest score, the first of several. @throws `inference-failed` if a score is no number */
export function likeliest(scores: Float32Array, frame: number): number {
  let best = 0;
  for (let index = 0; index < scores.length; index++) {
    const score = scores[index]!;
    if (Number.isNaN(score))
      throw new TabServeError('inference-failed', `The model's output has NaN in frame ${frame}.`);
    if (score > scores[best]!) best = index;
  }
  return best;
}
