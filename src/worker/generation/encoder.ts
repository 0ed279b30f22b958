/** Runs the encoder of an encoder–decoder model. */
import { zeroData } from '../../contract/dtypes.js';
import { TabServeError } from '../../contract/errors.js';
import type { OutputInfo, Session, Tensor, TensorInfo, Tensors } from '../../contract/tensors.js';
import { freeTensors } from '../tensors/tensor-users.js';
import { toFloat16 } from '../tensors/float16.js';
import { integers } from '../tensors/tensors.js';
import { ones } from './decoder.js';
import { EXPORTS, listInfos, type DecoderInterface } from './decoder-interface.js';

/** What encoders read, with the handler of their models and the input that they read it from. */
const READS = {
  text: {
    handler: 'text_to_text',
    what: 'a text',
    name: 'input_ids',
    dims: ['rows', 'tokens'],
  },
  image: {
    handler: 'image_to_text',
    what: 'an image',
    name: 'pixel_values',
    dims: ['rows', 'channels', 'height', 'width'],
  },
  spectrogram: {
    handler: 'speech_to_text',
    what: 'a spectrogram',
    name: 'input_features',
    dims: ['rows', 'mels', 'frames'],
  },
  sound: {
    handler: 'speech_to_text',
    what: 'sound',
    name: 'input_values',
    dims: ['rows', 'samples'],
  },
  embeddings: {
    handler: 'prompted_image_to_text',
    what: 'an image and a prompt',
    name: 'inputs_embeds',
    dims: ['rows', 'tokens', 'size'],
  },
} as const;

export type EncoderReads = keyof typeof READS;

/** An encoder: what it makes of a text, an image or sound, the decoder reads with each token that it writes. */
export class Encoder {
  readonly #session: Session;
  readonly #mask: TensorInfo | undefined;
  readonly #output: OutputInfo;
  /** The input of the text's tokens or their vectors, of the image, or of the sound. */
  readonly input: TensorInfo;
  /** The handler of its model. */
  readonly handler: (typeof READS)[EncoderReads]['handler'];

  /** @throws `model-config` naming what is missing, or what nothing fills */
  constructor(session: Session, reads: EncoderReads) {
    const { inputs, outputs } = session;
    const { handler, what, name, dims } = READS[reads];
    const input = inputs.find((one) => one.name === name);
    const output = outputs.find((one) => one.name === 'last_hidden_state');
    if (!input || !output || input.dims.length !== dims.length || output.dims.length !== 3)
      throw new TabServeError(
        'model-config',
        `The encoder of ${what} has the input "${name}" [${dims.join(', ')}] and the output "last_hidden_state" [rows, tokens, size]. This one has the inputs ${listInfos(inputs)}, and the outputs ${listInfos(outputs)}. ${EXPORTS[handler]}`,
      );
    this.#session = session;
    this.input = input;
    this.handler = handler;
    // All of what it reads counts, if it has an axis for it.
    const hasMask = dims.length === 2 || reads === 'embeddings';
    this.#mask = hasMask ? inputs.find((one) => one.name === 'attention_mask') : undefined;
    this.#output = output;
    const others = inputs.filter((one) => one !== input && one !== this.#mask);
    if (others.length > 0)
      throw new TabServeError(
        'model-config',
        `${handler} fills no input ${listInfos(others)} of an encoder. Write a handler of your own for it: see docs/handlers.md#a-handler-of-your-own.`,
      );
  }

  /** @throws `model-config` if the decoder reads tensors of another size or dtype */
  checkDecoder({ hiddenStates }: DecoderInterface): void {
    const { dims, dtype } = this.#output;
    const [own, theirs] = [dims[2], hiddenStates!.dims[2]];
    const isOfSize = typeof own !== 'number' || typeof theirs !== 'number' || own === theirs;
    if (isOfSize && (dtype === undefined || dtype === hiddenStates!.dtype)) return;
    throw new TabServeError(
      'model-config',
      `The encoder returns ${listInfos([this.#output])} as ${dtype}, and the decoder reads ${listInfos([hiddenStates!])} as ${hiddenStates!.dtype}. Take both from one export, and in precisions that fit: engine.dtype chooses them, one for both or { encoder, decoder }.`,
    );
  }

  /** Returns what the encoder makes of its inputs, for the caller to free. @throws what the session's run throws */
  async run(feeds: Tensors, signal?: AbortSignal): Promise<Tensor> {
    const { [this.#output.name]: output, ...others } = await this.#session.run(feeds, { signal, keep: true });
    freeTensors(Object.values(others));
    return output!;
  }

  /** Returns the model's inputs for one text. */
  textFeeds(tokens: readonly number[]): Tensors {
    const { name, dtype } = this.input;
    return { [name]: integers(dtype, [1, tokens.length], tokens), ...this.#maskOf(tokens.length) };
  }

  /** Returns the model's inputs for the samples of a recording. */
  soundFeeds(samples: Float32Array): Tensors {
    const { name, dtype } = this.input;
    const dims = [1, samples.length];
    const tensor: Tensor =
      dtype === 'float16' ? { dtype, dims, data: toFloat16(samples) } : { dtype: 'float32', dims, data: samples };
    return { [name]: tensor, ...this.#maskOf(samples.length) };
  }

  /** Returns the model's inputs for the vectors `[1, tokens, size]` of a prompt. */
  embeddingFeeds(vectors: Tensor): Tensors {
    return { [this.input.name]: vectors, ...this.#maskOf(vectors.dims[1]!) };
  }

  #maskOf(length: number): Tensors {
    return this.#mask ? { [this.#mask.name]: ones(this.#mask.dtype, length) } : {};
  }

  /** Returns zeros instead of its output for one token; undefined if the model does not declare its size. */
  exampleOutput({ hiddenStates }: DecoderInterface): Tensor | undefined {
    const size = this.#output.dims[2] ?? hiddenStates!.dims[2];
    if (typeof size !== 'number') return undefined;
    const { dtype } = hiddenStates!;
    return { dtype, dims: [1, 1, size], data: zeroData(dtype, size) };
  }
}
