import type { Context } from '../../contract/handler.js';
import { TabServeError } from '../../contract/errors.js';
import type { Tensor, Tensors } from '../../contract/tensors.js';
import { searchBeams } from '../generation/beams.js';
import { Decoder } from '../generation/decoder.js';
import { readInterface, staysOnGpu, type DecoderInterface } from '../generation/decoder-interface.js';
import { Embedder, EMBED_TOKENS } from '../generation/embedder.js';
import { Encoder, type EncoderReads } from '../generation/encoder.js';
import { generate, NO_TOKEN, type Step } from '../generation/generate.js';
import { checkLogits } from '../generation/logits.js';
import { useTensors } from '../tensors/tensor-users.js';
import { SharedSteps } from '../generation/shared-steps.js';
import type { TextToTextSettings } from '../generation/text-to-text-settings.js';
import { GenerationHandler } from './generation-handler.js';
import type { AnswerStep, GenerateTools, Prompt } from '../generation/answer.js';

/** A row that is ready for an encoder. */
export interface EncoderPrompt<Own extends TextToTextSettings = TextToTextSettings> extends Prompt<Own> {
  /** The encoder's inputs. */
  readonly feeds: Tensors;
}

/** What the handlers share that write a text with two files, the nodes `encoder` and `decoder`. */
export abstract class EncoderDecoderHandler<
  Input,
  Own extends TextToTextSettings = TextToTextSettings,
  Ready extends EncoderPrompt<Own> = EncoderPrompt<Own>,
> extends GenerationHandler<Input, Own, Ready> {
  declare readonly partType?: string;

  protected encoder!: Encoder;
  /** Of a decoder that reads embeddings in place of tokens. */
  protected embedder: Embedder | undefined;
  #decoder!: Decoder;
  #steps!: SharedSteps;
  #interface!: DecoderInterface;

  /**
   * Opens encoder and decoder, and loads the tokenizer.
   * @throws `model-config` if they do not read what they should, do not fit together, or the config names a token that the
   *   vocabulary does not have; `model-format`
   */
  protected async openModels(context: Context, reads: EncoderReads): Promise<void> {
    this.configure(context);
    this.encoder = new Encoder(await context.open('encoder', { keeps: () => true }), reads);
    const decoder = await context.open('decoder', { keeps: staysOnGpu, lastTokenOf: 'logits' });
    this.#interface = readInterface(decoder, this.encoder.handler);
    this.encoder.checkDecoder(this.#interface);
    if (!this.#interface.ids)
      this.embedder = new Embedder(await context.open(EMBED_TOKENS, { keeps: () => true }), this.#interface);
    this.#decoder = new Decoder(decoder, this.#interface, this.embedder);
    this.#steps = new SharedSteps(this.#decoder);
    await this.loadTexts(context, this.#interface.vocabularySize);
  }

  /** Returns the decoder's inputs for one token, after zeros of the encoder. */
  protected decoderExample(): Tensors | undefined {
    const hiddenStates = this.encoder.exampleOutput(this.#interface);
    return hiddenStates && this.#decoder.example(this.#decoder.emptyCache(hiddenStates));
  }

  /** @throws `invalid-input` if the decoder cannot follow several answers at once */
  protected checkBeams({ beams }: TextToTextSettings): void {
    if (beams && !this.#decoder.takesRows)
      throw new TabServeError(
        'invalid-input',
        'params.numBeams: this decoder runs one row at a time. Set numBeams to 1, or export it with a batch axis of any size.',
      );
  }

  protected override async *generate({ feeds, settings }: Ready, tools: GenerateTools): AsyncGenerator<AnswerStep> {
    const hiddenStates = await this.encoder.run(feeds, tools.signal);
    yield* this.write(hiddenStates, [settings.startTokenId], settings, tools);
  }

  /**
   * Writes an answer with the decoder. The first step is the encoder's run.
   * @param hiddenStates the encoder's output, which is freed
   * @param prompt the tokens that the decoder begins with
   */
  protected async *write(
    hiddenStates: Tensor,
    prompt: readonly number[],
    settings: Own,
    tools: GenerateTools,
  ): AsyncGenerator<Step> {
    const { beams } = settings;
    const options = { prompt, settings, ...tools };
    const cache = this.#decoder.emptyCache(hiddenStates);
    const row = this.#steps.row(cache);
    try {
      yield NO_TOKEN;
      yield* beams ? searchBeams(this.#decoder, cache.use(), beams, options) : generate(row, options);
    } finally {
      row.free();
    }
  }

  /** How many layers of cross attentions the decoder returns. */
  protected get attentionLayers(): number {
    return this.#interface.crossAttentions.length;
  }

  /** Returns the cross attentions of some layers. @param hiddenStates the encoder's output, which stays */
  protected async crossAttentions(
    hiddenStates: Tensor,
    tokens: readonly number[],
    layers: readonly number[],
    signal: AbortSignal,
  ): Promise<readonly Tensor[]> {
    useTensors([hiddenStates]);
    const cache = this.#decoder.emptyCache(hiddenStates);
    try {
      return await this.#decoder.crossAttentions(tokens, cache, layers, signal);
    } finally {
      cache.free();
    }
  }

  /** Returns the logits after some first tokens. @param hiddenStates the encoder's output, which stays */
  protected async firstLogits(
    hiddenStates: Tensor,
    tokens: readonly number[],
    signal: AbortSignal,
  ): Promise<Float32Array> {
    useTensors([hiddenStates]);
    const cache = this.#decoder.emptyCache(hiddenStates);
    try {
      const step = await this.#decoder.run([tokens], cache, signal);
      step.cache.free();
      checkLogits(step.logits[0]!);
      return step.logits[0]!;
    } finally {
      cache.free();
    }
  }
}
