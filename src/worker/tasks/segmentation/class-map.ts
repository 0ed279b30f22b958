import type { MaybePromise } from '../../../contract/handler.js';
import type { OnArrayBuffer, Tensor } from '../../../contract/tensors.js';
import { TabServeError } from '../../../contract/errors.js';
import { strides, type Maps } from '../../outputs/maps.js';
import type { Grid } from '../../outputs/interpolate.js';
import { eachRowWithPauses } from '../../outputs/interpolate-with-pauses.js';
import { logistic, type ScoreKind } from '../../outputs/scores.js';
import { toFloats } from '../../tensors/tensors.js';

/** One class for each pixel: one byte, or two bytes if there are more than 256 classes. */
export type ClassData = OnArrayBuffer<Uint8Array> | OnArrayBuffer<Uint16Array>;

/** Row-major maps in the size of the image. */
export interface ClassScores {
  readonly classes: ClassData;
  /** The probability of that class, in 0..1. */
  readonly scores: OnArrayBuffer<Float32Array>;
}

/** Softmax skips exponents below this: their terms are at most e⁻²⁰ = 2e-9 in a sum of at least 1. */
const NEGLIGIBLE = -20;

/**
 * Returns the likeliest class of each pixel and its probability. Logits are interpolated before they become
 * probabilities, as in torchvision and Hugging Face. With several channels, softmax over the channels gives the
 * probabilities, and the lower class wins a tie. With one channel, sigmoid gives the probability of class 1, and a
 * pixel is of class 1 if this probability is above `threshold`. Pixels that a crop removed get class 0 and score 0.
 * @param pause is called every few tenths of a second; what it throws ends the work
 */
export async function classMap(
  maps: Maps,
  kind: ScoreKind,
  grid: Grid,
  threshold: number,
  pause: () => MaybePromise<void>,
): Promise<ClassScores> {
  const { size, first, end } = grid.columns;
  const classes = classArray(maps.channels, size * grid.rows.size);
  const scores = new Float32Array(classes.length);
  const decide = maps.channels === 1 ? decideByThreshold(kind, threshold) : decideByMaximum(maps.channels, size, kind);
  const visit = (values: Float64Array, y: number): void =>
    decide(values, first, end, classes.subarray(y * size) as ClassData, scores.subarray(y * size));
  await eachRowWithPauses(maps, grid, visit, pause);
  return { classes, scores };
}

type Decide = (values: Float64Array, first: number, end: number, classes: ClassData, scores: Float32Array) => void;

function decideByThreshold(kind: ScoreKind, threshold: number): Decide {
  return (values, first, end, classes, scores) => {
    for (let x = first; x < end; x++) {
      const probability = kind === 'logits' ? logistic(values[x]!) : values[x]!;
      classes[x] = probability > threshold ? 1 : 0;
      scores[x] = probability > threshold ? probability : 1 - probability;
    }
  };
}

function decideByMaximum(channels: number, size: number, kind: ScoreKind): Decide {
  const best = new Float64Array(size);
  const sum = new Float64Array(size);
  return (values, first, end, classes, scores) => {
    best.set(values.subarray(0, size));
    for (let channel = 1; channel < channels; channel++) {
      for (let x = first, at = channel * size + first; x < end; x++, at++) {
        if (values[at]! > best[x]!) {
          best[x] = values[at]!;
          classes[x] = channel;
        }
      }
    }
    if (kind === 'logits') {
      sum.fill(0);
      for (let channel = 0; channel < channels; channel++) {
        for (let x = first, at = channel * size + first; x < end; x++, at++) {
          const below = values[at]! - best[x]!;
          if (below > NEGLIGIBLE) sum[x]! += Math.exp(below);
        }
      }
    }
    for (let x = first; x < end; x++) scores[x] = kind === 'logits' ? 1 / sum[x]! : best[x]!;
  };
}

/**
 * Returns the probability of one class at each pixel of the model's map: softmax over the channels, or sigmoid if there
 * is one channel. The sigmoid is the probability of class 1; class 0 has the rest.
 */
export function probabilityMap(maps: Maps, kind: ScoreKind, wanted: number): Maps {
  const { data, channels, width, height } = maps;
  if (channels === 1 && kind === 'probabilities' && wanted === 1) return { ...maps, layout: 'NCHW' };
  const stride = strides(maps);
  const out = new Float32Array(width * height);
  for (let i = 0; i < out.length; i++) {
    const at = i * stride.pixel;
    const value = data[channels === 1 ? at : at + wanted * stride.channel]!;
    if (channels === 1) {
      const probability = kind === 'logits' ? logistic(value) : value;
      out[i] = wanted === 1 ? probability : 1 - probability;
    } else if (kind === 'logits') {
      let sum = 0;
      for (let channel = 0; channel < channels; channel++)
        sum += Math.exp(data[at + channel * stride.channel]! - value);
      out[i] = 1 / sum;
    } else {
      out[i] = value;
    }
  }
  return { data: out, channels: 1, width, height, layout: 'NCHW' };
}

/**
 * Converts a class map of any numeric dtype to small integers.
 * @throws `inference-failed` if a number is not an integer in 0..65535
 */
export function integerClasses(map: Tensor): ClassData {
  const values = (map.dtype === 'float16' ? toFloats(map) : map.data) as ArrayLike<number | bigint>;
  const classes = new Uint16Array(values.length);
  for (let i = 0; i < classes.length; i++) {
    const value = Number(values[i]);
    if (!(Number.isInteger(value) && value >= 0 && value <= 65_535))
      throw new TabServeError(
        'inference-failed',
        `The model returned the class ${value}; a class must be an integer in 0..65535. Check handler.output.`,
      );
    classes[i] = value;
  }
  return highestClass(classes) > 255 ? classes : Uint8Array.from(classes);
}

/** Returns the highest class in a class map; 0 if the map is empty. */
export function highestClass(classes: ClassData): number {
  let highest = 0;
  for (const value of classes) if (value > highest) highest = value;
  return highest;
}

/** Returns TorchServe's pairs of class and probability, pixel by pixel. */
export function interleave(classes: ClassData, scores: Float32Array): OnArrayBuffer<Float32Array> {
  const pairs = new Float32Array(classes.length * 2);
  for (let i = 0; i < classes.length; i++) {
    pairs[2 * i] = classes[i]!;
    pairs[2 * i + 1] = scores[i]!;
  }
  return pairs;
}

/** Returns a map with 1 where the class map has the class `wanted`, and 0 elsewhere. */
export function indicator(classes: ClassData, wanted: number): OnArrayBuffer<Float32Array> {
  const out = new Float32Array(classes.length);
  for (let i = 0; i < out.length; i++) out[i] = classes[i] === wanted ? 1 : 0;
  return out;
}

function classArray(classes: number, length: number): ClassData {
  return classes > 256 ? new Uint16Array(length) : new Uint8Array(length);
}
