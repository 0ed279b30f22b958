import type { Context, GoldenModel } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { Signature } from '../../../contract/task.js';
import type { Session, Tensors } from '../../../contract/tensors.js';
import { describeValue } from '../../../contract/describe-value.js';
import { TabServeError } from '../../../contract/errors.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { CHAT_TEMPLATE, loadChatTemplate, TOOL_TEMPLATE, type ChatTemplate } from '../../generation/chat.js';
import { readChat, type Chat, type ChatMessage } from '../../../shared/chat.js';
import { checkKeys } from '../../../shared/check-keys.js';
import type { ReasoningPart, TokensPart, ToolCallPart } from '../../generation/answer-writer.js';
import { Decoder } from '../../generation/decoder.js';
import { EMBED_TOKENS, Embedder } from '../../generation/embedder.js';
import { readInterface, staysOnGpu } from '../../generation/decoder-interface.js';
import { generate } from '../../generation/generate.js';
import { answerModel } from '../../generation/golden-answer.js';
import { contextLengthOf, GENERATION_CONFIG } from '../../generation/model-facts.js';
import { Automata } from '../../generation/grammar/automata.js';
import { checkGuided, formatGrammar, type ResponseFormat } from '../../generation/grammar/response-format.js';
import { PrefixCache } from '../../generation/prefix-cache.js';
import { SharedSteps } from '../../generation/shared-steps.js';
import { checkPrompt, mostTokens } from '../../generation/prompt.js';
import { readSettings, type GenerationParams, type Settings } from '../../generation/settings.js';
import type { AnswerForm } from '../../generation/tool-calls/answer-form.js';
import type { ToolCallFormat, ToolChoice } from '../../generation/tool-calls/tool-choice.js';
import { loadScript } from '../../../shared/load-script.js';
import { integers } from '../../tensors/tensors.js';
import { readText } from '../../text/read-text.js';
import { isTokens, readTokens, type TokenInput } from '../../text/read-tokens.js';
import { GenerationHandler, type GenerationConfig } from '../../handlers/generation-handler.js';
import type { AnswerStep, GenerateTools, Prompt } from '../../generation/answer.js';
import type { StateConfig } from '../../handlers/state-config.js';
import { TEXT_GENERATOR_SCHEMA } from './schemas.js';

export type { ReasoningPart, TokensPart, ToolCall, ToolCallPart } from '../../generation/answer-writer.js';
export type { GeneratedText } from '../../generation/answer.js';

/** The input of one row: a prompt, a Blob of UTF-8, the ids of a prompt's tokens, or a conversation. */
export type TextGeneratorInput =
  | string
  | Blob
  | TokenInput
  | { readonly messages: readonly ChatMessage[]; readonly tools?: readonly unknown[] };

/** The `params` of `text_generator`. */
export interface TextGeneratorParams extends GenerationParams {
  /**
   * What the answer must be: an object of JSON with { type: 'json_object' }, or a value that fits a JSON Schema
   * with { type: 'json_schema', schema }. Without it, or with { type: 'text' }, any text.
   * @schema {"type":"object"}
   */
  readonly responseFormat?: ResponseFormat;
  /**
   * Which of the input's tools the answer calls: 'auto' lets the model decide, 'none' hides them, 'required' is one or
   * more of them, and { name } is that one, with arguments that fit its JSON Schema.
   * @default 'auto'
   */
  readonly toolChoice?: ToolChoice;
  /** How the model writes calls of tools. Default: as its chat template does. */
  readonly toolCallFormat?: ToolCallFormat;
  /**
   * What else the chat template reads, such as { enable_thinking: false } or { reasoning_effort: 'low' }.
   * @schema {"type":"object"}
   */
  readonly chatTemplateKwargs?: Readonly<Record<string, unknown>>;
}

/** A conversation's text, and what the answer to it consists of. */
export interface Rendered {
  readonly text: string;
  /** Undefined if all of it is text. */
  readonly answer: AnswerForm | undefined;
}

/** Returns what the request or the config sets. */
type ReadParam = (name: string) => never;

/**
 * Generates text with a decoder-only language model, such as Llama, Qwen, Gemma, Phi and GPT: what follows a prompt, or
 * the next message of a conversation.
 *
 * `preprocess` makes tokens of the rows, by the repository's chat template if they are conversations. `inference` is the
 * loop; override `nextToken` for a way of your own to choose tokens. `postprocess` makes the results. A streamed request
 * (`client.stream`) gets the text in parts of whole characters, which joined are the result's `text`. What the model
 * needs is read from the names and dims of its inputs and outputs, not from a list of architectures.
 * @sample { "input": "Once upon a time", "params": { "maxNewTokens": 40 } }
 * @input a text, or a conversation `{ messages, tools? }`
 * @answer `{ text, toolCalls?, reasoning?, finishReason, usage }`; streamed, the text in parts before it
 */
export class TextGenerator extends GenerationHandler<TextGeneratorInput> {
  declare readonly paramsType?: TextGeneratorParams;
  declare readonly configType?: GenerationConfig & StateConfig;
  declare readonly partType?: string | ReasoningPart | ToolCallPart | TokensPart;

  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['ForCausalLM', 'LMHeadModel'],
    processor: 'tokenizer',
    models: ['model', 'decoder_model_merged'],
    beside: { [EMBED_TOKENS]: [EMBED_TOKENS] },
    divided: ['LlavaQwen2ForCausalLM'],
    generates: true,
    files: [GENERATION_CONFIG, CHAT_TEMPLATE, TOOL_TEMPLATE, HF_CONFIG],
    handlerConfig(config) {
      const contextLength = contextLengthOf(config);
      return contextLength === undefined ? {} : { contextLength };
    },
  };

  static override readonly nearest: readonly Signature[] = [
    { order: 190, reads: 'texts', input: 'past_key_values', main: { rank: 3 } },
  ];

  static override readonly schema: ConfigSchema = TEXT_GENERATOR_SCHEMA;

  /** The opened model. */
  model!: Session;
  readonly goldenModel: GoldenModel = answerModel(
    async (row, context) => (await this.promptOf(row as TextGeneratorInput, 0, context)).tokens,
    (tokens) => checkPrompt(tokens, this.contextLength, this.facts.vocabularySize),
    (tokens, settings, tools) => this.generate({ tokens, settings }, tools),
  );
  readonly #automata = new Automata();
  /** Of a decoder that reads embeddings in place of tokens. */
  protected embedder: Embedder | undefined;
  /** The chat template of a repository that has none. */
  protected defaultTemplate: string | undefined;
  #decoder!: Decoder;
  #steps!: SharedSteps;
  /** Undefined if a beginning has other numbers in another prompt. */
  #prefixes: PrefixCache | undefined;
  #template: ChatTemplate | undefined;

  /**
   * Opens the model, and loads the tokenizer and the chat template.
   * @throws `model-config` if the model is no language model, or the config names a token that its vocabulary does not
   *   have; `model-format`
   */
  override async initialize(context: Context): Promise<void> {
    this.configure(context);
    this.model = await context.open(undefined, { keeps: staysOnGpu, lastTokenOf: 'logits' });
    const model = readInterface(this.model, 'text_generator');
    if (!model.ids) this.embedder = new Embedder(await context.open(EMBED_TOKENS, { keeps: () => true }), model);
    this.#decoder = new Decoder(this.model, model, this.embedder);
    this.#steps = new SharedSteps(this.#decoder);
    if (!this.#decoder.quantizesAtRunTime)
      this.#prefixes = new PrefixCache(model, context.kept, (tokens) => this.#decoder.isCausal(tokens));
    this.#template = await loadChatTemplate(context.files, this.defaultTemplate);
    await this.loadTexts(context, model.vocabularySize);
    this.initialized = true;
  }

  /** Returns the model's inputs for one token; undefined if the sizes of its embeddings are unknown. */
  example(_context: Context, node?: string): Tensors | undefined {
    if (node === EMBED_TOKENS) return { input_ids: integers('int64', [1, 1], [0]) };
    return this.#decoder.example(this.#decoder.emptyCache());
  }

  protected override async promptOf(input: TextGeneratorInput, index: number, context: Context): Promise<Prompt> {
    const param: ReadParam = (name) => this.param(name, index, context);
    if (typeof input === 'object' && input !== null && 'messages' in input)
      return this.promptOfText(await this.render(input, param), param);
    const tokens = isTokens(input) ? readTokens(input, this.tokenizer) : await this.#tokensOf(input);
    checkPrompt(tokens, this.contextLength, this.facts.vocabularySize);
    return { tokens, settings: this.settingsOf(param, tokens.length), isContinued: true };
  }

  /** Returns the prompt of a conversation's text. @throws `invalid-input` */
  protected promptOfText({ text, answer }: Rendered, param: ReadParam): Prompt {
    const tokens = this.tokenizer.tokensOf(text, mostTokens(this.contextLength));
    checkPrompt(tokens, this.contextLength, this.facts.vocabularySize);
    return { tokens, settings: this.settingsOf(param, tokens.length, answer), isContinued: true, answer };
  }

  /** Reads the settings of one answer. @param answer what it consists of */
  protected override settingsOf(param: ReadParam, promptLength: number, answer?: AnswerForm): Settings {
    const settings = readSettings(param, this.facts, promptLength, this.contextLength - promptLength);
    const format = param('responseFormat') as ResponseFormat | undefined;
    const grammar = (format && formatGrammar(format, this.#automata)) ?? answer?.grammar;
    if (grammar) checkGuided(settings, answer?.grammar ? 'toolChoice' : 'responseFormat');
    return { ...settings, grammar };
  }

  async #tokensOf(input: string | Blob): Promise<readonly number[]> {
    if (typeof input !== 'string' && !(input instanceof Blob))
      throw new TabServeError(
        'invalid-input',
        `Expected a string, a Blob of UTF-8, { messages, tools? }, or { tokens }, got ${describeValue(input)}.`,
      );
    const { text } = await readText(input);
    return this.tokenizer.encode(text, undefined, mostTokens(this.contextLength)).ids;
  }

  /**
   * Returns the text of a conversation.
   * @param read reads the conversation
   * @throws `invalid-input`; what the template throws
   */
  protected async render(given: Chat, param: ReadParam, read: (chat: Chat) => Chat = readChat): Promise<Rendered> {
    checkKeys(given, ['messages', 'tools']);
    const template = this.#template;
    const toolChoice = (param('toolChoice') as ToolChoice | undefined) ?? 'auto';
    const checked = read(given);
    const chat = toolChoice === 'none' ? { ...checked, tools: undefined } : checked;
    if (!template)
      throw new TabServeError(
        'invalid-input',
        'This model takes no messages: its repository has no chat template. Pass the prompt as a string.',
      );
    const text = template.render(chat, param('chatTemplateKwargs'));
    const { answerFormOf } = await loadScript(() => import('../../generation/tool-calls/answer-form.js'));
    const asked = { toolChoice, format: param('toolCallFormat') as ToolCallFormat | undefined };
    const answer = answerFormOf(chat, template.sourceOf(chat), text, { ...asked, automata: this.#automata });
    const format = param('responseFormat') as ResponseFormat | undefined;
    if (format === undefined || format.type === 'text') return { text, answer };
    if (!answer?.grammar) return { text, answer: undefined };
    throw new TabServeError(
      'invalid-input',
      'params.responseFormat: it is not supported together with toolChoice, which asks for calls of tools.',
    );
  }

  protected override async *generate(
    { tokens: prompt, settings }: Prompt,
    tools: GenerateTools,
  ): AsyncGenerator<AnswerStep> {
    const row = this.#steps.row((await this.#prefixes?.find(prompt)) ?? this.#decoder.emptyCache());
    const cachedTokens = row.length;
    const tokens = [...prompt];
    let hasFailed = false;
    try {
      for await (const step of generate(row, { prompt, settings, ...tools })) {
        tokens.push(...step.tokens);
        yield { ...step, cachedTokens };
      }
    } catch (error) {
      hasFailed = true;
      throw error;
    } finally {
      if (hasFailed || !this.#prefixes) row.free();
      else this.#prefixes.add(tokens, await row.end());
    }
  }
}
