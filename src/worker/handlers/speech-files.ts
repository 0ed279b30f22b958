/** What the handlers of speech read of a repository's files. */
import type { Files } from '../../contract/archive.js';
import { SAMPLE_RATES } from '../../contract/audio.js';
import { describeValue } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import type { Json } from '../../shared/hugging-face.js';
import { isRecord } from '../../shared/schema.js';

export const PREPROCESSOR = 'preprocessor_config.json';

/** Reads a file for a handler. @throws `model-config` if it is not there; `model-format` if it is no mapping */
export async function readJson(files: Files, name: string, handler: string): Promise<Json> {
  if (!files.has(name))
    throw new TabServeError(
      'model-config',
      `The archive has no ${name}, which ${handler} reads; list it in the manifest's "extensions".`,
    );
  const json = await files.json(name);
  if (isRecord(json)) return json;
  throw new TabServeError('model-format', `${name} must be a mapping of keys to values, not ${describeValue(json)}.`);
}

export function isSampleRate(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= SAMPLE_RATES.least && (value as number) <= SAMPLE_RATES.most;
}

/** The convolutions by which wav2vec 2.0 and its like make frames of samples. */
export interface Convolutions {
  /** Samples for each frame. */
  readonly ratio: number;
  /** The samples of the first frame. */
  readonly leastSamples: number;
}

/** Returns the convolutions of `config.json`; undefined if it does not describe them. */
export function readConvolutions({ conv_kernel: kernels, conv_stride: strides }: Json): Convolutions | undefined {
  if (!isSizes(strides) || !isSizes(kernels) || kernels.length !== strides.length) return undefined;
  return {
    ratio: strides.reduce((product, stride) => product * stride, 1),
    // From the last layer back: how much of the layer before it one frame sees.
    leastSamples: kernels.reduceRight((seen, kernel, at) => (seen - 1) * strides[at]! + kernel, 1),
  };
}

function isSizes(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => Number.isInteger(one) && one > 0);
}
