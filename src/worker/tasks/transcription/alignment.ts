/**
 * When each token of an answer was said, by what the decoder has listened to while it wrote it: `_extract_token_timestamps`
 * of transformers, by dynamic time warping.
 */
import { TabServeError } from '../../../contract/errors.js';
import type { Tensor } from '../../../contract/tensors.js';
import { underivable, type Json } from '../../../shared/hugging-face.js';
import { GENERATION_CONFIG } from '../../generation/model-facts.js';
import { toFloats } from '../../tensors/tensors.js';

/** How a model's words are found. */
export interface Alignment {
  /** The heads that listen to what they write: layer and head. */
  readonly heads: readonly (readonly [number, number])[];
  /** The width of the median filter, in steps; an odd number. */
  readonly width: number;
}

/**
 * Reads how a model's words are found.
 * @param generation the parsed `generation_config.json` @param config the parsed `config.json`
 * @param layers how many layers of cross attentions the decoder returns
 * @throws `invalid-input` if the files or the decoder do not say it; `model-config` for what is no list of heads
 */
export function readAlignment(generation: Json, config: Json, layers: number): Alignment {
  const { alignment_heads: heads } = generation;
  const { median_filter_width: width = 7 } = config;
  if (layers === 0)
    throw new TabServeError(
      'invalid-input',
      'params.timestamps: "word" needs the cross attentions of the decoder, and this export has no outputs "cross_attentions.0" and so on. Set "segment", or load an export with them: published ones have names that end with "_timestamped", and the converter of transformers.js writes them with --output_attentions.',
    );
  if (heads === undefined || heads === null)
    throw new TabServeError(
      'invalid-input',
      `params.timestamps: "word" needs alignment_heads in ${GENERATION_CONFIG}, which name the heads that listen to what they write. Set "segment", or take the file of the model as it was published.`,
    );
  const isHead = (one: unknown): boolean =>
    Array.isArray(one) &&
    one.length === 2 &&
    one.every((at) => Number.isSafeInteger(at) && at >= 0) &&
    (one[0] as number) < layers;
  if (!Array.isArray(heads) || heads.length === 0 || !heads.every(isHead))
    throw underivable(
      GENERATION_CONFIG,
      'alignment_heads',
      heads,
      `a list of [layer, head], with layers up to ${layers - 1}`,
      'Take the file of the model that was exported.',
    );
  if (!Number.isSafeInteger(width) || (width as number) % 2 !== 1 || (width as number) < 1)
    throw underivable('config.json', 'median_filter_width', width, 'an odd number', 'Correct the file.');
  return { heads: heads as Alignment['heads'], width: width as number };
}

/**
 * Returns the step of sound at which each token begins.
 * @param layers cross attentions `[1, heads, tokens, steps]`, by layer
 * @param first the first token that counts
 * @param steps how many steps of sound count
 */
export function alignTokens(
  layers: ReadonlyMap<number, Tensor>,
  { heads, width }: Alignment,
  first: number,
  steps: number,
): readonly number[] {
  const { dims } = layers.get(heads[0]![0])!;
  const tokens = dims[2]! - first;
  const mean = new Float32Array(tokens * steps);
  for (const [layer, head] of heads) {
    const output = layers.get(layer)!;
    const [, count, all, length] = output.dims as readonly [number, number, number, number];
    if (head >= count)
      throw new TabServeError(
        'model-config',
        `${GENERATION_CONFIG}: alignment_heads has head ${head} of layer ${layer}, which has ${count}. Take the file of the model that was exported.`,
      );
    const start = (head * all + first) * length;
    const weights = toFloats(output).subarray(start, start + tokens * length);
    const filtered = medians(standardized(weights, tokens, length, steps), steps, width);
    for (let at = 0; at < mean.length; at++) mean[at]! += filtered[at]!;
  }
  return warp(
    mean.map((sum) => sum / heads.length),
    tokens,
    steps,
  );
}

/** Returns the weights of the first steps, each of mean 0 and deviation 1 over the tokens. */
function standardized(weights: Float32Array, tokens: number, length: number, steps: number): Float32Array {
  const made = new Float32Array(tokens * steps);
  for (let step = 0; step < steps; step++) {
    let [sum, squares] = [0, 0];
    for (let token = 0; token < tokens; token++) sum += weights[token * length + step]!;
    const mean = sum / tokens;
    for (let token = 0; token < tokens; token++) squares += (weights[token * length + step]! - mean) ** 2;
    const deviation = Math.sqrt(squares / tokens);
    for (let token = 0; token < tokens; token++)
      made[token * steps + step] = (weights[token * length + step]! - mean) / deviation;
  }
  return made;
}

/** Returns the median of each number's neighbors in its row. At its ends, a row is mirrored. */
function medians(values: Float32Array, steps: number, width: number): Float32Array {
  const reach = (width - 1) / 2;
  if (steps <= reach) return values;
  const near = new Float32Array(width);
  return values.map((_, at) => {
    const step = at % steps;
    const row = at - step;
    for (let offset = -reach; offset <= reach; offset++) {
      const mirrored = Math.abs(step + offset);
      near[offset + reach] = values[row + (mirrored < steps ? mirrored : 2 * (steps - 1) - mirrored)]!;
    }
    return near.sort()[reach]!;
  });
}

/** Where the cheapest way to a cell comes from. */
const [BOTH, TOKEN, STEP] = [0, 1, 2];

/** Finds the cheapest way through the weights, from the first token and step to the last. Returns the first step of each token on it. */
function warp(weights: Float32Array, tokens: number, steps: number): readonly number[] {
  const row = steps + 1;
  const cost = new Float32Array((tokens + 1) * row).fill(Infinity);
  const from = new Uint8Array((tokens + 1) * row);
  cost[0] = 0;
  for (let step = 1; step <= steps; step++)
    for (let token = 1; token <= tokens; token++) {
      const at = token * row + step;
      const [both, up, left] = [cost[at - row - 1]!, cost[at - row]!, cost[at - 1]!];
      from[at] = both < up && both < left ? BOTH : up < both && up < left ? TOKEN : STEP;
      cost[at] = [both, up, left][from[at]!]! - weights[(token - 1) * steps + step - 1]!;
    }
  const starts: number[] = [];
  for (let [token, step] = [tokens, steps]; token > 0 || step > 0;) {
    if (token > 0) starts[token - 1] = Math.max(0, step - 1);
    const way = token === 0 ? STEP : step === 0 ? TOKEN : from[token * row + step];
    if (way !== STEP) token -= 1;
    if (way !== TOKEN) step -= 1;
  }
  return starts;
}
