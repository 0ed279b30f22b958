/** What a decoder needs, read from the names, dtypes and dims of its inputs and outputs. */
import { TabServeError } from '../../contract/errors.js';
import type { OutputInfo, Session, TensorInfo } from '../../contract/tensors.js';

/** One tensor of the key–value cache: what the model returns in a run is what it gets in the next one. */
export interface CacheTensor {
  /** The input. */
  readonly past: TensorInfo;
  /** The name of the output. */
  readonly present: string;
  /** The axis of rows; undefined if the model has a single row. */
  readonly rowAxis: number | undefined;
  /** The axis that grows with the tokens; undefined if the size stays, as for the state of a convolution. */
  readonly tokenAxis: number | undefined;
  /** Whether it belongs to the encoder's text: the first run returns it, and it stays as it is. */
  readonly isOfEncoder: boolean;
}

/** The inputs and outputs of a decoder. Undefined if the model does not have it. */
export interface DecoderInterface {
  /** Missing if it reads the tokens' embeddings, which a file of its own makes. */
  readonly ids: TensorInfo | undefined;
  /** What it reads in place of the tokens, [rows, tokens, …]: `inputs_embeds`, and the layers' own embeddings. */
  readonly embeddings: readonly TensorInfo[];
  readonly logits: OutputInfo;
  readonly mask: TensorInfo | undefined;
  readonly positions: TensorInfo | undefined;
  /** Says whether the cache has anything: a model of two graphs in one. */
  readonly useCache: TensorInfo | undefined;
  /** Says for how many of the last tokens there are logits. */
  readonly keptLogits: TensorInfo | undefined;
  /** Of a decoder that reads an encoder's output: that output, and which of its tokens count. */
  readonly hiddenStates: TensorInfo | undefined;
  readonly encoderMask: TensorInfo | undefined;
  /** Empty if the model has no cache: each run gets all tokens. */
  readonly cache: readonly CacheTensor[];
  /** The outputs that say, layer by layer, what of the encoder's output each token has listened to; often none. */
  readonly crossAttentions: readonly string[];
  /** The size of the vocabulary, if the model declares it. */
  readonly vocabularySize: number | undefined;
}

/** How the models are exported that a handler reads. */
export const EXPORTS = {
  text_generator: "Export it with Optimum's task text-generation-with-past.",
  text_to_text: "Export it with Optimum's task text2text-generation-with-past.",
  image_to_text: "Export it with Optimum's task image-to-text-with-past.",
  speech_to_text: "Export it with Optimum's task automatic-speech-recognition-with-past.",
  prompted_image_to_text: 'Take the files of a repository such as onnx-community/Florence-2-base-ft.',
} as const;

/**
 * @param handler whose decoder it is: all but `text_generator`'s read an encoder's output
 * @throws `model-config` naming what is missing, or what nothing fills
 */
export function readInterface(
  { inputs, outputs }: Pick<Session, 'inputs' | 'outputs'>,
  handler: keyof typeof EXPORTS,
): DecoderInterface {
  const input = (...names: string[]): TensorInfo | undefined => inputs.find(({ name }) => names.includes(name));
  const advice = EXPORTS[handler];
  const ids = input('input_ids');
  const embeddings = ids ? [] : [input('inputs_embeds'), input('per_layer_inputs')].filter((one) => one !== undefined);
  const logits = outputs.find(({ name }) => name === 'logits');
  const readsTokens = ids ? ids.dims.length === 2 : embeddings[0]?.name === 'inputs_embeds';
  if (!readsTokens || !logits || logits.dims.length !== 3)
    throw new TabServeError(
      'model-config',
      `A language model has the input "input_ids" [rows, tokens] and the output "logits" [rows, tokens, vocabulary]. This model has the inputs ${listInfos(inputs)}, and the outputs ${listInfos(outputs)}. ${advice}`,
    );
  if (logits.dtype?.startsWith('float') === false)
    throw new TabServeError(
      'model-config',
      `A language model's logits are floating-point numbers, but the output "logits" is ${logits.dtype}. ${advice}`,
    );
  const cache = inputs.filter(({ name }) => name.startsWith('past')).map((past) => cacheTensor(past, outputs));
  const readsEncoder = handler !== 'text_generator';
  const found = {
    ids,
    mask: input('attention_mask'),
    positions: input('position_ids'),
    useCache: input('use_cache_branch'),
    keptLogits: input('num_logits_to_keep', 'logits_to_keep'),
    hiddenStates: readsEncoder ? input('encoder_hidden_states') : undefined,
    encoderMask: readsEncoder ? input('encoder_attention_mask') : undefined,
  };
  if (readsEncoder) checkMerged(found, cache, inputs, advice);
  const known = new Set<TensorInfo | undefined>([
    ...Object.values(found),
    ...embeddings,
    ...cache.map(({ past }) => past),
  ]);
  const others = inputs.filter((one) => !known.has(one));
  if (others.length > 0)
    throw new TabServeError(
      'model-config',
      `${handler} fills no input ${listInfos(others)}. The model takes more than text, or is one part of a larger model. Write a handler of your own for it: see docs/handlers.md#a-handler-of-your-own.`,
    );
  const size = logits.dims[2];
  return {
    ...found,
    embeddings,
    logits,
    cache,
    crossAttentions: layersOf('cross_attentions.', outputs),
    vocabularySize: typeof size === 'number' ? size : undefined,
  };
}

/** Returns the outputs that are numbered from 0 on. */
function layersOf(start: string, outputs: readonly OutputInfo[]): readonly string[] {
  const names = new Set(outputs.map(({ name }) => name));
  const found: string[] = [];
  while (names.has(`${start}${found.length}`)) found.push(`${start}${found.length}`);
  return found;
}

/** Returns whether the model has an axis for several rows. */
export function hasRows({ ids, embeddings }: DecoderInterface): boolean {
  return typeof (ids ?? embeddings[0]!).dims[0] !== 'number';
}

/**
 * Returns whether an output of a decoder stays on the GPU: what the next run reads, what hardly any run reads, and of the
 * logits all but the last ones.
 */
export function staysOnGpu(output: string): boolean {
  return output === 'logits' || output.startsWith('present') || output.includes('attentions.');
}

/** @throws `model-config` for a decoder that cannot write the first token, or none after it */
function checkMerged(
  { hiddenStates, useCache }: Pick<DecoderInterface, 'hiddenStates' | 'useCache'>,
  cache: readonly CacheTensor[],
  inputs: readonly TensorInfo[],
  advice: string,
): void {
  const needsFirstRun = cache.some(({ isOfEncoder }) => isOfEncoder);
  if (hiddenStates?.dims.length === 3 && (useCache || !needsFirstRun)) return;
  const missing = hiddenStates ? 'use_cache_branch' : 'encoder_hidden_states';
  throw new TabServeError(
    'model-config',
    `The decoder has no input "${missing}", so it cannot write the first token: it is the half of a decoder that is not merged, or no decoder of an encoder. It has the inputs ${listInfos(inputs)}. ${advice} The whole decoder is decoder_model_merged.onnx.`,
  );
}

/** The maximum of numbers in a tensor of the cache before the first run: half a gigabyte of float32. */
const MAX_FIXED = 2 ** 27;

function cacheTensor(past: TensorInfo, outputs: readonly OutputInfo[]): CacheTensor {
  const key = past.name.replace(/^past(_key_values)?/, '');
  const present = outputs.find(
    ({ name }) => name.startsWith('present') && name.replace(/^present(_key_values)?/, '') === key,
  );
  if (!present)
    throw new TabServeError(
      'model-config',
      `The model has the input "${past.name}", and no output "present${key}" for the next run's input. It has ${listInfos(outputs)}.`,
    );
  const free = past.dims.flatMap((size, axis) => (typeof size === 'number' ? [] : [axis]));
  const rowAxis = free.find((axis) => /batch/i.test(String(past.dims[axis]))) ?? (free[0] === 0 ? 0 : undefined);
  const tokenAxes = free.filter((axis) => axis !== rowAxis);
  if (tokenAxes.length > 1)
    throw new TabServeError(
      'model-config',
      `The model's input "${past.name}" [${past.dims.join(', ')}] has ${tokenAxes.length} sizes that are not fixed, beside that of the batch. Only one may be: the number of tokens. Fix the others with engine.freeDimensions.`,
    );
  const fixed = past.dims.map((size, axis) => (typeof size === 'number' ? size : axis === rowAxis ? 1 : 0));
  const numbers = fixed.reduce((product, size) => product * size, 1);
  if (numbers > MAX_FIXED || past.dims.some((size) => typeof size === 'number' && size > MAX_FIXED))
    throw new TabServeError(
      'model-config',
      `The model's input "${past.name}" [${past.dims.join(', ')}] has a size that no memory holds: ${MAX_FIXED} numbers at most.`,
    );
  const isOfEncoder = key.split('.').includes('encoder');
  return { past, present: present.name, rowAxis, tokenAxis: tokenAxes[0], isOfEncoder };
}

/** Returns the names and dims of inputs or outputs, for a message. */
export function listInfos(infos: readonly (TensorInfo | OutputInfo)[]): string {
  return infos.map(({ name, dims }) => `"${name}" [${dims.map((size) => size ?? '?').join(', ')}]`).join(', ');
}
