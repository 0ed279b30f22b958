import type { Context, InputKind, ResultKind } from '../../contract/handler.js';
import type { ResultOf } from '../../contract/handler-types.js';
import { asTabServeError, type PredictionError, TabServeError } from '../../contract/errors.js';
import type { AnswerStep, GeneratedAnswer, GeneratedText, GenerateTools, Prompt } from '../generation/answer.js';
import { AnswerLoop } from '../generation/answer-loop.js';
import { chooseToken } from '../generation/generate.js';
import { checkLevels } from '../generation/grammar/response-format.js';
import type { Progress } from '../generation/logits.js';
import { GENERATION_CONFIG, readModelFacts, type ModelFacts } from '../generation/model-facts.js';
import type { GenerationParams, Settings } from '../generation/settings.js';
import { refuseUnsupported } from '../generation/unsupported-params.js';
import type { ConfigSchema } from '../../shared/schema.js';
import { loadHuggingFace, type HuggingFaceTokenizer } from '../text/hugging-face.js';
import { schemaOf } from './descriptor.js';
import { unwrap, type Row } from './row.js';
import { StagedHandler } from './staged-handler.js';
import { GENERATION_HANDLER_SCHEMA } from './schemas.js';

/** What only the handler's config sets, and not `generation_config.json`. */
const FORMAT = 'params.responseFormat';

/** The settings that have an effect only where tokens are sampled. */
const OF_DRAWING = ['temperature', 'topK', 'topP', 'minP', 'seed'] as const;

/** The keys of `handler:` that only the config sets. */
export interface GenerationConfig {
  /**
   * The maximum number of tokens of prompt and answer together; for text_to_text and image_to_text, of a text, and of
   * an answer. Default: what the repository's config.json says.
   * @integer
   * @minimum 1
   */
  readonly contextLength?: number;
}

/** What the handlers share that generate text. A subclass makes prompts of rows, and runs its model on a prompt. */
export abstract class GenerationHandler<
  Input,
  Own extends Settings = Settings,
  Ready extends Prompt<Own> = Prompt<Own>,
> extends StagedHandler<Input, readonly (Ready | undefined)[], readonly (GeneratedAnswer | undefined)[]> {
  static override readonly takes: InputKind = 'text';
  static override readonly makes: ResultKind = 'text';

  declare readonly paramsType?: GenerationParams;
  declare readonly configType?: GenerationConfig;
  static override readonly schema: ConfigSchema = GENERATION_HANDLER_SCHEMA;

  protected tokenizer!: HuggingFaceTokenizer;
  protected facts!: ModelFacts;
  #answers!: AnswerLoop;
  #hasWarned = false;

  /** Answers join and leave at any step. */
  readonly batchesAtOnce = 8;

  readonly runsRowsAlone = true;

  /** The example is for the model: `inference` takes prompts. */
  readonly exampleIsForModel = true;

  /** The maximum number of tokens that the model takes. */
  get contextLength(): number {
    return (this.config as { contextLength?: number }).contextLength ?? Infinity;
  }

  /** Returns the tokens of a row, and what its request sets. @throws `invalid-input`, which fails the row */
  protected abstract promptOf(input: Input, index: number, context: Context): Promise<Ready>;

  /**
   * Runs the model on a prompt. The caller may stop at any step: what belongs to the answer must be freed in `finally`.
   */
  protected abstract generate(prompt: Ready, tools: GenerateTools): AsyncIterable<AnswerStep>;

  /**
   * Reads the settings of one answer.
   * @param param returns what the request or the config sets
   * @throws `invalid-input`
   */
  protected abstract settingsOf(param: (name: string) => never, promptLength: number): Own;

  /**
   * Loads the tokenizer and what the files say of all answers.
   * @throws `model-format`; `model-config`, also if the settings of the config are wrong
   */
  protected async loadTexts(context: Context, vocabularySize: number | undefined): Promise<void> {
    this.tokenizer = await loadHuggingFace(context.files);
    this.#answers = new AnswerLoop(this.tokenizer);
    this.facts = await readModelFacts(context.files, this.#schema, vocabularySize, context.warn);
    try {
      this.settingsOf((name) => this.config[name] as never, 0);
    } catch (error) {
      const { message } = asTabServeError(error);
      const where = message.startsWith(FORMAT)
        ? message.replace('params', 'handler')
        : `handler or ${GENERATION_CONFIG}: ${message}`;
      throw new TabServeError('model-config', where, { cause: error });
    }
  }

  get #schema(): ConfigSchema {
    return schemaOf(this.constructor as typeof GenerationHandler);
  }

  /**
   * Runs all stages on a batch of rows.
   * @throws `invalid-input` for a param of transformers that is not supported; of a batch, only its row fails
   */
  override async handle(
    data: readonly Row<Input>[],
    context: Context,
  ): Promise<readonly (ResultOf<this> | PredictionError)[]> {
    for (const params of context.params) {
      checkLevels(params['responseFormat']);
      refuseUnsupported(params, this.#schema);
    }
    return await super.handle(data, context);
  }

  /** Converts rows to tokens, and reads each row's settings. A row that cannot be read fails alone. */
  override async preprocess(data: readonly Row<Input>[], context: Context): Promise<readonly (Ready | undefined)[]> {
    return await Promise.all(
      data.map(async (row, index) => {
        try {
          const prompt = await this.promptOf(unwrap(row), index, context);
          this.#warnOfSampling(prompt.settings, index, context);
          return prompt;
        } catch (error) {
          context.fail(index, asTabServeError(error, 'preprocess'));
          return undefined;
        }
      }),
    );
  }

  /** Warns once that settings of sampling have no effect where the most probable token is taken. */
  #warnOfSampling({ sampling }: Settings, index: number, context: Context): void {
    if (sampling || this.#hasWarned) return;
    const unused = OF_DRAWING.filter((name) => this.param<unknown>(name, index, context) !== undefined);
    if (unused.length === 0) return;
    this.#hasWarned = true;
    context.warn(
      `${unused.join(', ')}: without effect, because the most probable token is taken. Set doSample: true to draw tokens.`,
    );
  }

  /** Generates the answers. The rows of a batch, and other batches, take turns token by token. */
  override async inference(
    inputs: readonly (Ready | undefined)[],
    context: Context,
  ): Promise<readonly (GeneratedAnswer | undefined)[]> {
    const model = {
      generate: (prompt: Ready, tools: GenerateTools) => this.generate(prompt, tools),
      nextToken: this.nextToken.bind(this),
    };
    return await Promise.all(
      inputs.map(async (prompt, index) => {
        if (!prompt) return undefined;
        try {
          return await this.#answers.write(prompt, index, context, model);
        } catch (error) {
          if (context.signal.aborted || inputs.length === 1) throw error;
          context.fail(index, asTabServeError(error, 'inference'));
          return undefined;
        }
      }),
    );
  }

  /**
   * Chooses the next token of an answer. This implementation does what transformers' `generate` does with the settings.
   * @param logits one number for each token of the vocabulary, −∞ for those that `responseFormat` rules out; it may
   *   change them
   * @param progress the tokens so far, those of the prompt first
   */
  protected nextToken(logits: Float32Array, settings: Settings, progress: Progress): number {
    return chooseToken(logits, settings, progress);
  }

  /** Makes each row's result. */
  override postprocess(outputs: readonly (GeneratedAnswer | undefined)[], context: Context): readonly GeneratedText[] {
    return outputs.map((answer, index) => {
      if (!answer) return undefined as never;
      const { text, reasoning, toolCalls, finishReason, tokens, promptTokens, cachedTokens, logprobs } = answer;
      const { answerTokens } = answer;
      return {
        text,
        ...(reasoning !== '' && { reasoning }),
        ...(toolCalls.length > 0 && { toolCalls }),
        finishReason,
        usage: { promptTokens, cachedTokens, completionTokens: tokens.length },
        ...(this.param<boolean>('returnLogprobs', index, context) && { logprobs }),
        ...(answerTokens && { tokens: answerTokens }),
      };
    });
  }
}
