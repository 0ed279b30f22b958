import type { Context } from '../../contract/handler.js';
import { TabServeError } from '../../contract/errors.js';
import type { Tensors } from '../../contract/tensors.js';
import { searchBeams } from '../generation/beams.js';
import { Decoder } from '../generation/decoder.js';
import { readInterface, staysOnGpu, type DecoderInterface } from '../generation/decoder-interface.js';
import { Encoder } from '../generation/encoder.js';
import { generate, type Generated } from '../generation/generate.js';
import { SharedSteps } from '../generation/shared-steps.js';
import type { TextToTextSettings } from '../generation/text-to-text-settings.js';
import { GenerationHandler, type GeneratedAnswer, type GenerateTools, type Prompt } from './generation-handler.js';

/** A row that is ready for an encoder. */
export interface EncoderPrompt extends Prompt<TextToTextSettings> {
  /** The encoder's inputs. */
  readonly feeds: Tensors;
}

/** What the handlers share that write a text with two files, the nodes `encoder` and `decoder`. */
export abstract class EncoderDecoderHandler<Input> extends GenerationHandler<Input, TextToTextSettings, EncoderPrompt> {
  protected encoder!: Encoder;
  #decoder!: Decoder;
  #steps!: SharedSteps;
  #interface!: DecoderInterface;

  /**
   * Opens encoder and decoder, and loads the tokenizer.
   * @throws `model-config` if they do not read what they should, do not fit together, or the config names a token that the
   *   vocabulary does not have; `model-format`
   */
  protected async openModels(context: Context, reads: 'text' | 'image'): Promise<void> {
    this.configure(context);
    this.encoder = new Encoder(await context.open('encoder', { keeps: () => true }), reads);
    const decoder = await context.open('decoder', { keeps: staysOnGpu });
    this.#interface = readInterface(decoder, `${reads}_to_text`);
    this.encoder.checkDecoder(this.#interface);
    this.#decoder = new Decoder(decoder, this.#interface);
    this.#steps = new SharedSteps(this.#decoder);
    await this.loadTexts(context, this.#interface.vocabularySize);
  }

  /** Returns the decoder's inputs for one token, after zeros of the encoder. */
  protected decoderExample(): Tensors | undefined {
    const hiddenStates = this.encoder.exampleOutput(this.#interface);
    return hiddenStates && this.#decoder.feeds([[0]], this.#decoder.emptyCache(hiddenStates));
  }

  /** @throws `invalid-input` if the decoder cannot follow several answers at once */
  protected checkBeams({ beams }: TextToTextSettings): void {
    if (beams && !this.#decoder.takesRows)
      throw new TabServeError(
        'invalid-input',
        'params.numBeams: this decoder runs one row at a time. Set numBeams to 1, or export it with a batch axis of any size.',
      );
  }

  protected override async generate(
    { feeds, settings }: EncoderPrompt,
    tools: GenerateTools,
  ): Promise<Generated & Pick<GeneratedAnswer, 'cachedTokens'>> {
    const { startTokenId, beams } = settings;
    const cache = this.#decoder.emptyCache(await this.encoder.run(feeds, tools.signal));
    tools.onRun();
    const options = { prompt: [startTokenId], cache, settings, ...tools };
    if (beams) return { ...(await searchBeams(this.#decoder, beams, options)), cachedTokens: 0 };
    const { cache: last, ...generated } = await generate(this.#steps, options);
    last.free();
    return { ...generated, cachedTokens: 0 };
  }
}
