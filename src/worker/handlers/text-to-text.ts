import type { Context, GoldenModel } from '../../contract/handler.js';
import type { HuggingFaceTask } from '../../contract/hugging-face-task.js';
import type { Tensors } from '../../contract/tensors.js';
import { describeValue } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import { underivable } from '../../shared/hugging-face.js';
import { HF_CONFIG } from '../../shared/model-url.js';
import type { ConfigSchema } from '../../shared/schema.js';
import { searchBeams } from '../generation/beams.js';
import { Decoder } from '../generation/decoder.js';
import { readInterface, staysOnGpu, type DecoderInterface } from '../generation/decoder-interface.js';
import { Encoder } from '../generation/encoder.js';
import { generate, type Generated } from '../generation/generate.js';
import { answerModel, answerTools, plainSettings } from '../generation/golden-answer.js';
import { GENERATION_CONFIG } from '../generation/model-facts.js';
import { SharedSteps } from '../generation/shared-steps.js';
import {
  readTextToTextSettings,
  TEXT_TO_TEXT_SCHEMA,
  type TextToTextParams,
  type TextToTextSettings,
} from '../generation/text-to-text-settings.js';
import { formatTokens, mostTokens } from '../generation/prompt.js';
import { readText } from '../text/read-text.js';
import { GenerationHandler, type GeneratedAnswer, type GenerateTools, type Prompt } from './generation-handler.js';

/** The input of one row: a text, or a Blob of UTF-8. */
export type TextToTextInput = string | Blob;

/**
 * Writes a text for a text with an encoder–decoder model, such as T5, BART, Marian, mBART and NLLB: a translation or a
 * summary.
 *
 * The model is two files, the nodes `encoder` and `decoder`. `preprocess` makes tokens of the rows. `inference` runs the
 * encoder once, and then the decoder token by token: it follows the best token, or several answers with `numBeams`.
 * `postprocess` makes the results. A streamed request (`client.stream`) gets the text in parts of whole characters,
 * which joined are the result's `text`; of several beams, at the end, when the best one is known. What the model needs
 * is read from the names and dims of its inputs and outputs, not from a list of architectures.
 * @answer `{ text, finishReason, usage }`; streamed, the text in parts before it
 */
export class TextToText extends GenerationHandler<TextToTextInput, TextToTextSettings> {
  declare readonly paramsType?: TextToTextParams;

  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['ForConditionalGeneration', 'MarianMTModel'],
    processor: 'tokenizer',
    nodes: { encoder: ['encoder_model'], decoder: ['decoder_model_merged'] },
    generates: true,
    files: [GENERATION_CONFIG, HF_CONFIG],
    handlerConfig({ is_encoder_decoder: isPair, max_position_embeddings: positions }) {
      if (isPair !== true)
        throw underivable(
          HF_CONFIG,
          'is_encoder_decoder',
          isPair,
          'true',
          'text_to_text is for models with an encoder and a decoder of text. Set the option handler for another model.',
        );
      // The positions of T5's n_positions are relative: no limit.
      return Number.isSafeInteger(positions) ? { contextLength: positions } : {};
    },
  };

  static override readonly schema: ConfigSchema = TEXT_TO_TEXT_SCHEMA;

  readonly goldenModel: GoldenModel = answerModel(
    async (row, context) => (await this.promptOf(row as TextToTextInput, 0, context)).tokens,
    (tokens) => this.#checkLength(tokens),
    async (tokens, maxNewTokens, choose) => {
      const own = this.settingsOf((name) => this.config[name] as never);
      const settings = { ...own, ...plainSettings(maxNewTokens), beams: undefined };
      return (await this.generate({ tokens, settings }, answerTools(choose))).tokens;
    },
  );
  #encoder!: Encoder;
  #decoder!: Decoder;
  #steps!: SharedSteps;
  #interface!: DecoderInterface;

  /**
   * Opens encoder and decoder, and loads the tokenizer.
   * @throws `model-config` if they are no encoder and decoder of texts, do not fit together, or the config names a token
   *   that the vocabulary does not have; `model-format`
   */
  override async initialize(context: Context): Promise<void> {
    this.configure(context);
    this.#encoder = new Encoder(await context.open('encoder', { keeps: () => true }));
    const decoder = await context.open('decoder', { keeps: staysOnGpu });
    this.#interface = readInterface(decoder, 'text_to_text');
    this.#encoder.checkDecoder(this.#interface);
    this.#decoder = new Decoder(decoder, this.#interface);
    this.#steps = new SharedSteps(this.#decoder);
    await this.loadTexts(context, this.#interface.vocabularySize);
    this.initialized = true;
  }

  /** Returns the inputs of encoder or decoder for one token. */
  example(_context: Context, node?: string): Tensors | undefined {
    if (node === 'encoder') return this.#encoder.feeds([0]);
    const hiddenStates = this.#encoder.exampleOutput(this.#interface);
    return hiddenStates && this.#decoder.feeds([[0]], this.#decoder.emptyCache(hiddenStates));
  }

  protected override async promptOf(
    input: TextToTextInput,
    index: number,
    context: Context,
  ): Promise<Prompt<TextToTextSettings>> {
    if (typeof input !== 'string' && !(input instanceof Blob))
      throw new TabServeError('invalid-input', `Expected a string or a Blob of UTF-8, got ${describeValue(input)}.`);
    const { text } = await readText(input);
    if (text.trim() === '') throw new TabServeError('invalid-input', 'The text is empty: nothing is there to rewrite.');
    const settings = this.settingsOf((name) => this.param(name, index, context));
    const tokens = this.tokenizer.encode(text, undefined, mostTokens(this.contextLength), settings.sourceLanguage).ids;
    this.#checkLength(tokens);
    if (settings.beams && !this.#decoder.takesRows)
      throw new TabServeError(
        'invalid-input',
        'params.numBeams: this decoder runs one row at a time. Set numBeams to 1, or export it with a batch axis of any size.',
      );
    return { tokens, settings };
  }

  #checkLength(tokens: readonly number[]): void {
    if (tokens.length <= this.contextLength) return;
    throw new TabServeError(
      'invalid-input',
      `The text has ${formatTokens(tokens, this.contextLength)}, and the model reads at most ${this.contextLength}. Shorten the text, or pass it in parts.`,
    );
  }

  protected override settingsOf(param: (name: string) => never): TextToTextSettings {
    return readTextToTextSettings(param, this.facts, this.tokenizer.languages, this.contextLength);
  }

  protected override async generate(
    { tokens, settings }: Prompt<TextToTextSettings>,
    tools: GenerateTools,
  ): Promise<Generated & Pick<GeneratedAnswer, 'cachedTokens'>> {
    const { startTokenId, beams } = settings;
    const cache = this.#decoder.emptyCache(await this.#encoder.run(tokens, tools.signal));
    tools.onRun();
    const options = { prompt: [startTokenId], cache, settings, ...tools };
    if (beams) return { ...(await searchBeams(this.#decoder, beams, options)), cachedTokens: 0 };
    const { cache: last, ...generated } = await generate(this.#steps, options);
    last.free();
    return { ...generated, cachedTokens: 0 };
  }
}
