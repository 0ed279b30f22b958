import type { Context } from '../../../contract/handler.js';
import { zeroData } from '../../../contract/dtypes.js';
import { TabServeError } from '../../../contract/errors.js';
import type { Session, Tensor, TensorInfo, Tensors } from '../../../contract/tensors.js';
import { nextTask } from '../../../shared/next-task.js';
import { loadHuggingFace } from '../../text/hugging-face.js';
import { IDS_INPUT } from '../../text/text-inputs.js';
import { concat, integers, toFloats } from '../../tensors/tensors.js';
import { OF_SUPERTONIC, rateOf, refuse, refuseFixed, soundOf, type Voice, type VoiceSettings } from './voice.js';

/** The vector of a speaker, float32, if the repository has one. */
export const SPEAKER_FILE = 'speaker_embeddings.bin';

const SPEAKER = 'speaker_embeddings';
const MASK = 'encoder_attention_mask';
const HIDDEN = new Set(['encoder_hidden_states', 'encoder_outputs']);
const PAST = 'past_key_values.';

/** The spectra are at most this many times as many as the tokens, times two for each step. */
const MAX_LENGTH_RATIO = 20;
/** The number of positions of the published model's encoder. */
const POSITIONS = 600;
/** Steps between two chances for other work. */
const STEPS_AT_ONCE = 16;

/**
 * Opens SpeechT5, of three files: the encoder of texts, the decoder that makes a spectrogram step by step, and the
 * vocoder. It computes what transformers' `generate_speech` does.
 */
export async function openSpeechT5(decoder: Session, context: Context, sampleRate: unknown): Promise<Voice> {
  const { files } = context;
  const [encoder, vocoder, tokenizer] = await Promise.all([
    context.open('encoder'),
    context.open('vocoder'),
    loadHuggingFace(files),
  ]);
  const own = files.has(SPEAKER_FILE) ? speakerIn(await files.bytes(SPEAKER_FILE)) : undefined;
  const input = (name: string): TensorInfo | undefined => decoder.inputs.find((one) => one.name === name);
  const past = decoder.inputs.filter(({ name }) => name.startsWith(PAST));
  const hidden = decoder.inputs.find(({ name }) => HIDDEN.has(name));
  const size = sizeOf(input(SPEAKER)?.dims.at(-1), SPEAKER);
  const bins = sizeOf(input('output_sequence')?.dims.at(-1), 'output_sequence');
  const speakerOf = ({ speaker = own }: VoiceSettings): Float32Array => {
    if (!speaker)
      return refuse(
        'speakerEmbedding',
        `the model needs the vector of a speaker, ${size} numbers. Pass one, or put it as float32 into ${SPEAKER_FILE} of the repository.`,
      );
    if (speaker.length === size && speaker.every(Number.isFinite)) return speaker;
    return refuse(
      'speakerEmbedding',
      `expected ${size} finite numbers, got ${speaker.length}${speaker.length === size ? ', of which one is not finite' : ''}.`,
    );
  };
  const idsFor = (ids: readonly number[]): Tensors => ({
    [IDS_INPUT]: integers(
      encoder.inputs.find(({ name }) => name === IDS_INPUT)?.dtype ?? 'int64',
      [1, ids.length],
      ids,
    ),
  });

  /** Returns the decoder's inputs before the first step. */
  const first = (encoded: Tensors, speaker: Float32Array): Tensors => ({
    ...(input('use_cache_branch') && { use_cache_branch: flag(false) }),
    output_sequence: { dtype: 'float32', dims: [1, 1, bins], data: new Float32Array(bins) },
    [SPEAKER]: { dtype: 'float32', dims: [1, size], data: speaker },
    ...(hidden && { [hidden.name]: encoded['encoder_outputs']! }),
    ...(input(MASK) && { [MASK]: encoded[MASK]! }),
    ...Object.fromEntries(past.map((one) => [one.name, emptyPast(one)])),
  });

  async function spectrogramOf(
    encoded: Tensors,
    settings: VoiceSettings,
    { signal, heartbeat }: Context,
  ): Promise<Tensor> {
    const spectra: Tensor[] = [];
    const begun = first(encoded, speakerOf(settings));
    let later: Tensors = {};
    for (let most = Infinity; spectra.length < most;) {
      const feeds = { ...begun, ...later };
      const outputs = await decoder.run(feeds, { signal });
      const spectrum = outputs['spectrum']!;
      spectra.push(spectrum);
      most = Math.floor((encoded['encoder_outputs']!.dims[1]! * MAX_LENGTH_RATIO) / spectrum.dims[0]!);
      const stop = toFloats(outputs['prob']!).reduce((sum, one) => sum + one, 0);
      if (!Number.isFinite(stop)) soundOf('prob', outputs['prob']);
      if (stop >= settings.threshold) break;
      later = {
        ...nextPast(past, feeds, outputs),
        output_sequence: outputs['output_sequence_out']!,
        ...(begun['use_cache_branch'] && { use_cache_branch: flag(true) }),
      };
      heartbeat();
      if (spectra.length % STEPS_AT_ONCE === 0) await nextTask();
    }
    return concat(spectra);
  }

  return {
    sampleRate: rateOf(sampleRate, 16_000),
    reads: 'text',
    maxTokens: tokenizer.maxLength ?? POSITIONS,
    encode(part) {
      const { ids } = tokenizer.encode(part, undefined, Infinity);
      const isLetter = (id: number): boolean => /[\p{L}\p{N}]/u.test(tokenizer.detokenizer.pieceOf(id) ?? '');
      return ids.some(isLetter) ? ids.map((id) => ({ id })) : [];
    },
    check(settings) {
      refuseFixed(settings, ...OF_SUPERTONIC, 'voice', 'speed', 'noiseScale', 'durationNoise');
      speakerOf(settings);
    },
    async speak(tokens, settings, context) {
      const { signal } = context;
      const encoded = await encoder.run(idsFor(tokens.map(({ id }) => id)), { signal });
      const { waveform } = await vocoder.run(
        { spectrogram: await spectrogramOf(encoded, settings, context) },
        { signal },
      );
      return { samples: soundOf('waveform', waveform) };
    },
    example(node) {
      if (node === 'encoder') return idsFor([4, 5]);
      if (node === 'vocoder')
        return { spectrogram: { dtype: 'float32', dims: [8, bins], data: new Float32Array(8 * bins) } };
      const width = hidden?.dims.at(-1);
      if (typeof width !== 'number') return undefined;
      const encoded: Tensors = {
        encoder_outputs: { dtype: 'float32', dims: [1, 2, width], data: new Float32Array(2 * width) },
        [MASK]: integers(input(MASK)?.dtype ?? 'int64', [1, 2], [1, 1]),
      };
      return first(encoded, new Float32Array(size));
    },
  };
}

function flag(value: boolean): Tensor {
  return { dtype: 'bool', dims: [1], data: Uint8Array.of(Number(value)) };
}

/** Returns a cache of no tokens. */
function emptyPast({ dims, dtype }: TensorInfo): Tensor {
  const own = [1, dims[1] as number, 0, dims[3] as number];
  return { dtype, dims: own, data: zeroData(dtype as 'float32', 0) };
}

/** Returns the cache after a step. That of the encoder's output is made by the first step, and then stays. */
function nextPast(past: readonly TensorInfo[], feeds: Tensors, outputs: Tensors): Tensors {
  return Object.fromEntries(
    past.map(({ name }) => {
      const made = outputs[name.replace(PAST, 'present.')];
      const stays = name.includes('.encoder.') && feeds[name]!.data.length > 0;
      return [name, stays || !made ? feeds[name]! : made];
    }),
  );
}

function sizeOf(size: number | string | null | undefined, name: string): number {
  if (typeof size === 'number') return size;
  throw new TabServeError(
    'model-config',
    `The decoder's input "${name}" has no fixed size. Export the model with Optimum.`,
  );
}

/** @throws `model-format` if the bytes are no float32 */
function speakerIn(bytes: Uint8Array): Float32Array {
  if (bytes.length % 4 === 0) return new Float32Array(bytes.slice().buffer);
  throw new TabServeError('model-format', `${SPEAKER_FILE} has ${bytes.length} bytes; float32 has a multiple of 4.`);
}
