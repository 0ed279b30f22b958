import type { GenerateOptions, Step } from './generate.js';
import type { ToolCall } from './answer-writer.js';
import type { Settings } from './settings.js';
import type { AnswerToken } from './token-texts.js';
import type { AnswerForm } from './tool-calls/answer-form.js';
import type { HearingProgress } from '../../contract/hearing-progress.js';
import type { SpokenDetails } from '../../contract/spoken-text.js';

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
export interface AnswerStep extends Step, Partial<Pick<GeneratedAnswer, 'cachedTokens' | 'spoken'>> {
  /** How far the work on a recording is. */
  readonly progress?: HearingProgress;
}
