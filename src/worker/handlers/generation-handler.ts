import type { Context, InputKind } from '../../contract/handler.js';
import type { ResultOf } from '../../contract/handler-types.js';
import { asTabServeError, type PredictionError, TabServeError } from '../../contract/errors.js';
import { AnswerWriter, type ToolCall } from '../generation/answer-writer.js';
import { chooseToken, type Begun, type GenerateOptions, type Step } from '../generation/generate.js';
import { GuidedAnswer } from '../generation/grammar/guided-answer.js';
import { checkLevels } from '../generation/grammar/response-format.js';
import { Vocabulary } from '../generation/grammar/vocabulary.js';
import type { Progress } from '../generation/logits.js';
import { GENERATION_CONFIG, readModelFacts, type ModelFacts } from '../generation/model-facts.js';
import { refuseUnsupported, type GenerationParams, type Settings } from '../generation/settings.js';
import { TextStreamer } from '../generation/text-streamer.js';
import { TokenTexts, type AnswerToken } from '../generation/token-texts.js';
import type { RankedToken } from '../generation/top-tokens.js';
import type { AnswerForm } from '../generation/tool-calls/answer-form.js';
import type { SpokenDetails } from '../outputs/spoken-text.js';
import type { ConfigSchema } from '../../shared/schema.js';
import { loadHuggingFace, type HuggingFaceTokenizer } from '../text/hugging-face.js';
import type { Detokenizer } from '../text/tokenizer.js';
import { schemaOf } from './descriptor.js';
import { unwrap, type Row } from './row.js';
import { StagedHandler } from './staged-handler.js';
import { GENERATION_HANDLER_SCHEMA } from './schemas.js';

/** The answer to one row. */
export interface GeneratedText {
  /** Without the prompt, and without what ended it, reasoning and calls of tools. */
  readonly text: string;
  /** What a model has written that reasons before it answers a conversation. */
  readonly reasoning?: string;
  /** The tools that the answer calls, if the conversation has some. */
  readonly toolCalls?: readonly ToolCall[];
  /**
   * `stop` if a token that ends answers or a stop string has ended it, `tool_calls` if it then has called tools;
   * `length` if it has reached a limit.
   */
  readonly finishReason: 'stop' | 'length' | 'tool_calls';
  readonly usage: {
    readonly promptTokens: number;
    /** How many tokens of the prompt did not run, because they are in the cache of an earlier request. */
    readonly cachedTokens: number;
    /** With the token that ended it. */
    readonly completionTokens: number;
  };
  /** With `returnLogprobs`: for each token of the answer, the natural logarithm of its probability. */
  readonly logprobs?: readonly number[];
  /** With `topLogprobs`: the tokens of the answer, without the one that ended it. */
  readonly tokens?: readonly AnswerToken[];
}

/** What only the handler's config sets, and not `generation_config.json`. */
const FORMAT = 'params.responseFormat';

/** The settings that have an effect only where tokens are sampled. */
const OF_DRAWING = ['temperature', 'topK', 'topP', 'minP', 'seed'] as const;

/** A row that is ready for the model. */
export interface Prompt<Own extends Settings = Settings> {
  /** Of the row's text; none if it is an image. */
  readonly tokens: readonly number[];
  readonly settings: Own;
  /** Whether the answer continues the prompt: its text begins where that of the prompt ends. */
  readonly isContinued?: boolean;
  /** What the answer consists of; undefined if all of it is text. */
  readonly answer?: AnswerForm | undefined;
}

/** What the model has generated for a row. */
export interface GeneratedAnswer {
  readonly text: string;
  /** With the one that ended it. */
  readonly tokens: readonly number[];
  readonly logprobs: readonly number[];
  /** With `topLogprobs`. */
  readonly answerTokens?: readonly AnswerToken[] | undefined;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: GeneratedText['finishReason'];
  readonly promptTokens: number;
  readonly cachedTokens: number;
  /** Of a recording. */
  readonly spoken?: SpokenDetails | undefined;
}

/** How a model generates the answer to a row. */
export type GenerateTools = Pick<GenerateOptions, 'signal' | 'begun' | 'choose'>;

/** What a run of the model adds to the answer to a row. */
export interface AnswerStep extends Step, Partial<Pick<GeneratedAnswer, 'cachedTokens' | 'spoken'>> {}

/** What another worker needs to continue after a part of an answer. */
interface Resume extends Begun {
  /** Only of a sampled answer. */
  readonly seed: number | undefined;
  /** How many parts were sent, with this one. */
  readonly parts: number;
  /** What the ids of tool calls begin with. */
  readonly callId: string;
}

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

  declare readonly paramsType?: GenerationParams;
  declare readonly configType?: GenerationConfig;
  static override readonly schema: ConfigSchema = GENERATION_HANDLER_SCHEMA;

  protected tokenizer!: HuggingFaceTokenizer;
  protected facts!: ModelFacts;
  /** Made when an answer first keeps to a grammar; by the special tokens that grammars write. */
  readonly #vocabularies = new Map<string, Vocabulary>();
  /** Made when an answer first tells its tokens. */
  #tokenTexts: TokenTexts | undefined;
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
    return await Promise.all(
      inputs.map(async (prompt, index) => {
        if (!prompt) return undefined;
        try {
          return await this.#answer(prompt, index, context);
        } catch (error) {
          if (context.signal.aborted || inputs.length === 1) throw error;
          context.fail(index, asTabServeError(error, 'inference'));
          return undefined;
        }
      }),
    );
  }

  async #answer(given: Ready, index: number, context: Context): Promise<GeneratedAnswer> {
    const begun = context.resumed(index) as Resume | undefined;
    const prompt = begun ? withSeed(given, begun.seed) : given;
    const shown = this.#shown(prompt.answer);
    const guided = this.#guidedAnswer(prompt.settings, shown);
    const before = prompt.isContinued && !guided ? this.#lastOfText(prompt.tokens) : undefined;
    const detokenizer = guided?.detokenizer ?? showing(this.tokenizer.detokenizer, shown);
    const streamer = new TextStreamer(detokenizer, prompt.settings.stop, before);
    const stopTokens = this.#specialTokens(prompt.settings.stop);
    let hasStopToken = false;
    const seed = prompt.settings.sampling?.seed;
    const [tokens, logprobs, written]: [number[], number[], number[]] = [[], [], []];
    const top: (readonly RankedToken[])[] = [];
    let cachedTokens = 0;
    let finishReason: GeneratedAnswer['finishReason'] = 'stop';
    let spoken: GeneratedAnswer['spoken'];
    const writer = new AnswerWriter(prompt.answer?.reader(), begun, async (part, count) => {
      const begun = { tokens: Int32Array.from(written), logprobs: Float64Array.from(logprobs), top, seed };
      await context.send(index, part, { ...begun, parts: count, callId: writer.callId } satisfies Resume);
    });
    const isStopped = (): boolean => hasStopToken || streamer.isStopped || guided?.isComplete === true;
    const choose: GenerateTools['choose'] = (logits, own, progress) => {
      guided?.mask(logits);
      return this.nextToken(logits, own, progress);
    };
    for await (const step of this.generate(prompt, { signal: context.signal, begun, choose })) {
      context.heartbeat();
      tokens.push(...step.tokens);
      logprobs.push(...step.logprobs);
      top.push(...(step.top ?? []));
      if (step.finishReason === 'length') finishReason = 'length';
      ({ cachedTokens = cachedTokens, spoken = spoken } = step);
      for (const token of step.text) {
        hasStopToken = stopTokens.has(token);
        if (hasStopToken) break;
        guided?.add(token);
        written.push(token);
        await writer.add(streamer.add(token));
      }
      if (isStopped()) break;
    }
    await writer.add(streamer.end());
    if (isStopped()) finishReason = 'stop';
    await writer.end(finishReason === 'length');
    const { text, reasoning, toolCalls } = writer;
    if (finishReason === 'stop' && toolCalls.length > 0) finishReason = 'tool_calls';
    const promptTokens = prompt.tokens.length;
    const hasTop = prompt.settings.topLogprobs !== undefined;
    const answerTokens = hasTop ? this.#answerTokens(written, logprobs, top) : undefined;
    const answer = { text, reasoning, toolCalls, tokens, logprobs, answerTokens };
    return { ...answer, finishReason, promptTokens, cachedTokens, spoken };
  }

  /** Returns the special tokens that the marks of an answer consist of, by their ids. */
  #shown(answer: AnswerForm | undefined): ReadonlyMap<number, string> {
    const { idOf, detokenizer } = this.tokenizer;
    const found = (answer?.tokens ?? []).map((token) => [idOf(token), token] as const);
    return new Map(
      found.filter((one): one is [number, string] => one[0] !== undefined && detokenizer.pieceOf(one[0]) === undefined),
    );
  }

  /** Returns the last token of a prompt that is text. The answer's own bytes would follow one that is a byte. */
  #lastOfText(tokens: readonly number[]): number | undefined {
    const { detokenizer } = this.tokenizer;
    return tokens.findLast((token) => {
      const piece = detokenizer.pieceOf(token);
      return piece !== undefined && !detokenizer.isByte(piece);
    });
  }

  /** Returns those of some texts that are special tokens: they are in no text, so they are looked for as tokens. */
  #specialTokens(texts: readonly string[]): ReadonlySet<number> {
    const { idOf, detokenizer } = this.tokenizer;
    const ids = texts.map((text) => idOf(text)).filter((id) => id !== undefined);
    return new Set(ids.filter((id) => detokenizer.pieceOf(id) === undefined));
  }

  /** Returns tokens with their texts. */
  #answerTokens(
    tokens: readonly number[],
    logprobs: readonly number[],
    top: readonly (readonly RankedToken[])[],
  ): readonly AnswerToken[] {
    this.#tokenTexts ??= new TokenTexts(this.tokenizer);
    const texts = this.#tokenTexts;
    return tokens.map((token, at) => ({ ...texts.of({ token, logprob: logprobs[at]! }), top: top[at]!.map(texts.of) }));
  }

  /** @param shown the special tokens that the grammar writes */
  #guidedAnswer({ grammar, eosTokenIds }: Settings, shown: ReadonlyMap<number, string>): GuidedAnswer | undefined {
    if (!grammar) return undefined;
    const key = [...shown.keys()].join();
    const vocabulary = this.#vocabularies.get(key) ?? new Vocabulary(this.tokenizer.tokenBytes(shown));
    this.#vocabularies.set(key, vocabulary);
    return new GuidedAnswer(grammar, vocabulary, eosTokenIds);
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

/** Returns a prompt whose answer is sampled with the random numbers of a seed. */
function withSeed<Ready extends Prompt>(prompt: Ready, seed: number | undefined): Ready {
  const { settings } = prompt;
  const { sampling } = settings;
  return sampling && seed !== undefined
    ? { ...prompt, settings: { ...settings, sampling: { ...sampling, seed } } }
    : prompt;
}

/** Returns a detokenizer for which some special tokens are text. */
function showing(detokenizer: Detokenizer, shown: ReadonlyMap<number, string>): Detokenizer {
  if (shown.size === 0) return detokenizer;
  return { ...detokenizer, pieceOf: (id) => shown.get(id) ?? detokenizer.pieceOf(id) };
}
