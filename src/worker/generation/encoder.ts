/** Runs the encoder of an encoder–decoder model. */
import { zeroData } from '../../contract/dtypes.js';
import { TabServeError } from '../../contract/errors.js';
import type { OutputInfo, Session, Tensor, TensorInfo, Tensors } from '../../contract/tensors.js';
import { freeTensors } from '../tensors/gpu-memory.js';
import { integers } from '../tensors/tensors.js';
import { ones } from './decoder.js';
import { listInfos, type DecoderInterface } from './decoder-interface.js';

/** An encoder: what it makes of a text, the decoder reads with each token that it writes. */
export class Encoder {
  readonly #session: Session;
  readonly #ids: TensorInfo;
  readonly #mask: TensorInfo | undefined;
  readonly #output: OutputInfo;

  /** @throws `model-config` naming what is missing, or what nothing fills */
  constructor(session: Session) {
    const { inputs, outputs } = session;
    const ids = inputs.find(({ name }) => name === 'input_ids');
    const output = outputs.find(({ name }) => name === 'last_hidden_state');
    if (!ids || !output || ids.dims.length !== 2 || output.dims.length !== 3)
      throw new TabServeError(
        'model-config',
        `A text's encoder has the input "input_ids" [rows, tokens] and the output "last_hidden_state" [rows, tokens, size]. This one has the inputs ${listInfos(inputs)}, and the outputs ${listInfos(outputs)}. Export it with Optimum's task text2text-generation-with-past.`,
      );
    this.#session = session;
    this.#ids = ids;
    this.#mask = inputs.find(({ name }) => name === 'attention_mask');
    this.#output = output;
    const others = inputs.filter((one) => one !== ids && one !== this.#mask);
    if (others.length > 0)
      throw new TabServeError(
        'model-config',
        `text_to_text fills no input ${listInfos(others)} of an encoder. Write a handler of your own for it: see docs/handlers.md#a-handler-of-your-own.`,
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

  /** Returns what the encoder makes of one text, for the caller to free. @throws what the session's run throws */
  async run(tokens: readonly number[], signal?: AbortSignal): Promise<Tensor> {
    const { [this.#output.name]: output, ...others } = await this.#session.run(this.feeds(tokens), {
      signal,
      keep: true,
    });
    freeTensors(Object.values(others));
    return output!;
  }

  /** Returns the model's inputs for one text. */
  feeds(tokens: readonly number[]): Tensors {
    const { name, dtype } = this.#ids;
    const mask = this.#mask && { [this.#mask.name]: ones(this.#mask.dtype, tokens.length) };
    return { [name]: integers(dtype, [1, tokens.length], tokens), ...mask };
  }

  /** Returns zeros in the place of its output for one token; undefined if the model does not declare its size. */
  exampleOutput({ hiddenStates }: DecoderInterface): Tensor | undefined {
    const size = this.#output.dims[2] ?? hiddenStates!.dims[2];
    if (typeof size !== 'number') return undefined;
    const { dtype } = hiddenStates!;
    return { dtype, dims: [1, 1, size], data: zeroData(dtype, size) };
  }
}
