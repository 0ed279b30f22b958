import type { Context, GoldenModel } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { Tensors } from '../../../contract/tensors.js';
import { describeValue } from '../../../contract/describe-value.js';
import { TabServeError } from '../../../contract/errors.js';
import { underivable } from '../../../shared/hugging-face.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { answerModel } from '../../generation/golden-answer.js';
import { contextLengthOf, GENERATION_CONFIG } from '../../generation/model-facts.js';
import {
  readTextToTextSettings,
  type TextToTextParams,
  type TextToTextSettings,
} from '../../generation/text-to-text-settings.js';
import { formatTokens, mostTokens } from '../../generation/prompt.js';
import { readText } from '../../text/read-text.js';
import { EncoderDecoderHandler, type EncoderPrompt } from '../../handlers/encoder-decoder-handler.js';
import { TEXT_TO_TEXT_SCHEMA } from './schemas.js';

export type { TextToTextParams } from '../../generation/text-to-text-settings.js';

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
 * @sample { "input": "Ada Lovelace lived in London, and wrote the first program for a machine of Charles Babbage.",
 *   "params": { "maxNewTokens": 40 } }
 * @answer `{ text, finishReason, usage }`; streamed, the text in parts before it
 */
export class TextToText extends EncoderDecoderHandler<TextToTextInput> {
  declare readonly paramsType?: TextToTextParams;

  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['ForConditionalGeneration', 'MarianMTModel'],
    processor: 'tokenizer',
    nodes: { encoder: ['encoder_model'], decoder: ['decoder_model_merged'] },
    generates: true,
    files: [GENERATION_CONFIG, HF_CONFIG],
    handlerConfig(config) {
      const { is_encoder_decoder: isPair } = config;
      if (isPair !== true)
        throw underivable(
          HF_CONFIG,
          'is_encoder_decoder',
          isPair,
          'true',
          'text_to_text is for models with an encoder and a decoder of text. Set the option handler for another model.',
        );
      // The positions of T5's n_positions are relative: no limit.
      const contextLength = contextLengthOf(config, ['max_position_embeddings']);
      return contextLength === undefined ? {} : { contextLength };
    },
  };

  static override readonly schema: ConfigSchema = TEXT_TO_TEXT_SCHEMA;

  readonly goldenModel: GoldenModel = answerModel(
    async (row, context) => (await this.promptOf(row as TextToTextInput, 0, context)).tokens,
    (tokens) => this.#checkLength(tokens),
    (tokens, plain, tools) => {
      const settings = { ...this.settingsOf((name) => this.config[name] as never), ...plain, beams: undefined };
      return this.generate({ tokens, settings, feeds: this.encoder.textFeeds(tokens) }, tools);
    },
  );

  /**
   * Opens encoder and decoder, and loads the tokenizer.
   * @throws `model-config` if they are no encoder and decoder of texts, do not fit together, or the config names a token
   *   that the vocabulary does not have; `model-format`
   */
  override async initialize(context: Context): Promise<void> {
    await this.openModels(context, 'text');
    this.initialized = true;
  }

  /** Returns the inputs of encoder or decoder for one token. */
  example(_context: Context, node?: string): Tensors | undefined {
    return node === 'encoder' ? this.encoder.textFeeds([0]) : this.decoderExample();
  }

  protected override async promptOf(input: TextToTextInput, index: number, context: Context): Promise<EncoderPrompt> {
    if (typeof input !== 'string' && !(input instanceof Blob))
      throw new TabServeError('invalid-input', `Expected a string or a Blob of UTF-8, got ${describeValue(input)}.`);
    const { text } = await readText(input);
    if (text.trim() === '') throw new TabServeError('invalid-input', 'The text is empty: nothing is there to rewrite.');
    const settings = this.settingsOf((name) => this.param(name, index, context));
    const tokens = this.tokenizer.encode(text, undefined, mostTokens(this.contextLength), settings.sourceLanguage).ids;
    this.#checkLength(tokens);
    this.checkBeams(settings);
    return { tokens, settings, feeds: this.encoder.textFeeds(tokens) };
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
}
