import { describeValue } from '../../../contract/describe-value.js';
import { invalidInput } from '../../../contract/errors.js';
import type { Context } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { ImageInput } from '../../../contract/images.js';
import { checkKeys } from '../../../shared/check-keys.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import { isRecord, type ConfigSchema } from '../../../shared/schema.js';
import type { AnswerStep, GeneratedAnswer, GeneratedText, GenerateTools } from '../../generation/answer.js';
import { contextLengthOf, GENERATION_CONFIG } from '../../generation/model-facts.js';
import { checkPrompt, mostTokens } from '../../generation/prompt.js';
import { specialTokensOf } from '../../generation/special-tokens.js';
import type { EncoderPrompt } from '../../handlers/encoder-decoder-handler.js';
import type { GenerationConfig } from '../../handlers/generation-handler.js';
import type { VisionConfig } from '../../handlers/vision-params.js';
import { readFields, type DocumentFields } from './document-fields.js';
import { ImageReadingHandler } from './image-reading-handler.js';
import type { ImageToTextParams } from './image-to-text.js';
import { DOCUMENT_QUESTION_ANSWERER_SCHEMA } from './schemas.js';

export type { DocumentFields } from './document-fields.js';

/** The input of one row: a picture of a document, with a question, or with the prompt that the model was trained with. */
export type DocumentQuestion =
  | ImageInput
  | {
      readonly image: ImageInput;
      /** For models that answer questions, such as donut-base-finetuned-docvqa. */
      readonly question?: string;
      /** The task's token, such as `<s_cord-v2>`. Default: the token that the decoder begins with. */
      readonly prompt?: string;
    };

/** The answer to one row. */
export interface DocumentAnswer extends GeneratedText {
  /** The answer to the question. Missing if the model has written none. */
  readonly answer?: string;
  /** What the model has written, by the names of its fields. */
  readonly fields: DocumentFields;
}

interface DocumentPrompt extends EncoderPrompt {
  /** What stands before the answer. */
  readonly before: string;
}

interface WrittenDocument extends GeneratedAnswer {
  readonly before: string;
}

/** The tokens that are no part of an answer. All other special ones are: they say which field begins and ends. */
const NO_TEXT = new Set(['</s>', '<pad>']);

/**
 * Reads documents without a recognizer of characters: Donut answers a question about a picture of a page, or writes the
 * fields of a receipt or a form.
 *
 * A `question` is put into the prompt that models for questions were trained with, `<s_docvqa>…<s_answer>`. Other models
 * have prompts of their own, such as `<s_cord-v2>`. What the model writes becomes `fields` as transformers'
 * `token2json` makes them.
 * The model is two files, the nodes `encoder` and `decoder`, as in `image_to_text`, whose params apply.
 * @sample { "params": { "maxNewTokens": 40 } }
 * @input `{ image, question }` or `{ image, prompt }`; or an image, for a model of one prompt
 * @answer `{ answer?, fields, text, finishReason, usage }`; streamed, the text in parts before it
 */
export class DocumentQuestionAnswerer extends ImageReadingHandler<DocumentQuestion, DocumentPrompt> {
  declare readonly paramsType?: ImageToTextParams;
  declare readonly configType?: GenerationConfig & Pick<VisionConfig, 'imageProcessing' | 'maxImagePixels'>;

  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['VisionEncoderDecoderModel'],
    encoders: ['donut-swin'],
    processor: 'both',
    nodes: { encoder: ['encoder_model'], decoder: ['decoder_model_merged'] },
    generates: true,
    files: [GENERATION_CONFIG, HF_CONFIG],
    handlerConfig({ decoder }) {
      const contextLength = isRecord(decoder) ? contextLengthOf(decoder) : undefined;
      return contextLength === undefined ? {} : { contextLength };
    },
  };

  static override readonly schema: ConfigSchema = DOCUMENT_QUESTION_ANSWERER_SCHEMA;

  /** The special tokens that are part of an answer. */
  #marks!: readonly string[];

  /**
   * Opens encoder and decoder, loads the tokenizer and compiles the transforms.
   * @throws what `image_to_text` throws
   */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    this.#marks = specialTokensOf(this.tokenizer, NO_TEXT);
  }

  protected override async promptOf(given: DocumentQuestion, index: number, context: Context): Promise<DocumentPrompt> {
    const { image, prompt } = readInput(given);
    const param = (name: string): never => this.param(name, index, context);
    const tokens =
      prompt === undefined
        ? [this.settingsOf(param).startTokenId]
        : this.tokenizer.tokensOf(prompt, mostTokens(this.contextLength));
    checkPrompt(tokens, this.contextLength, this.facts.vocabularySize);
    const settings = this.settingsOf(param, tokens.length);
    this.checkBeams(settings);
    const feeds = await this.feedsOf(image, index, context);
    const before = this.tokenizer.decode(tokens, true);
    return { tokens, settings, feeds, before, answer: { tokens: this.#marks, grammar: undefined } };
  }

  protected override async *generate(
    { tokens, feeds, settings }: DocumentPrompt,
    tools: GenerateTools,
  ): AsyncGenerator<AnswerStep> {
    const hiddenStates = await this.encoder.run(feeds, tools.signal);
    yield* this.write(hiddenStates, tokens, settings, tools);
  }

  override async inference(
    prompts: readonly (DocumentPrompt | undefined)[],
    context: Context,
  ): Promise<readonly (WrittenDocument | undefined)[]> {
    const answers = await super.inference(prompts, context);
    return answers.map((answer, index) => answer && { ...answer, before: prompts[index]!.before });
  }

  override postprocess(answers: readonly (WrittenDocument | undefined)[], context: Context): readonly DocumentAnswer[] {
    return super.postprocess(answers, context).map((found, index) => {
      if (!found) return found as never;
      // Without the task's token.
      const written = (answers[index]!.before + found.text).replace(/<.*?>/, '').trim();
      const answer = /<s_answer>(.*)<\/s_answer>/.exec(written)?.[1]?.trim();
      const fields = readFields(written, (text) => this.tokenizer.idOf(text) !== undefined);
      return { ...found, ...(answer !== undefined && { answer }), fields };
    });
  }
}

/** @throws `invalid-input` */
function readInput(given: DocumentQuestion): { readonly image: ImageInput; readonly prompt: string | undefined } {
  if (!isRecord(given) || !('image' in given)) return { image: given as ImageInput, prompt: undefined };
  checkKeys(given, ['image', 'question', 'prompt']);
  const { image, question, prompt } = given as Exclude<DocumentQuestion, ImageInput>;
  for (const [key, value] of Object.entries({ question, prompt }))
    if (value !== undefined && (typeof value !== 'string' || value.trim() === ''))
      throw invalidInput(
        `${key}: expected a text, got ${value === '' ? 'an empty one' : describeValue(value)}. Leave it out for a model of one prompt.`,
      );
  if (question !== undefined && prompt !== undefined)
    throw invalidInput('question and prompt: a question is put into a prompt of its own. Pass one of them.');
  return {
    image,
    prompt: question === undefined ? prompt : `<s_docvqa><s_question>${question}</s_question><s_answer>`,
  };
}
