/** The types of the Prompt API, as its specification of 2026 has them: https://webmachinelearning.github.io/prompt-api. */

/** A part of a message. */
export interface PromptPart {
  readonly type: 'text' | 'image' | 'audio';
  /** A text, or what `image_text_to_text` takes as an image. */
  readonly value: unknown;
}

/** A message of a conversation. */
export interface PromptMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string | readonly PromptPart[];
  /** Whether the answer continues this message, the last one, of the assistant. */
  readonly prefix?: boolean;
}

/** What is asked: a text of the user, or messages. */
export type PromptInput = string | readonly PromptMessage[];

/** A tool that the model may call. */
export interface PromptTool {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of its arguments. */
  readonly inputSchema: object;
  /** Returns what the model is told. */
  execute(given: never): unknown;
}

/** What a session expects to read or write. */
export interface Expected {
  readonly type: 'text' | 'image' | 'audio' | 'tool-call' | 'tool-response';
  readonly languages?: readonly string[];
}

/** Options that say whether a model is there. */
export interface AvailabilityOptions {
  readonly topK?: number;
  readonly temperature?: number;
  readonly tools?: readonly PromptTool[];
  readonly expectedInputs?: readonly Expected[];
  readonly expectedOutputs?: readonly Expected[];
}

/** Options of a session. */
export interface CreateOptions extends AvailabilityOptions {
  /** The conversation so far. Only its first message may be of the system. */
  readonly initialPrompts?: readonly PromptMessage[];
  readonly signal?: AbortSignal;
  /** Called with a target of `downloadprogress` events, whose `loaded` goes from 0 to 1. */
  readonly monitor?: (monitor: EventTarget) => void;
}

/** Options of a prompt. */
export interface PromptOptions {
  /** What the answer must be: a JSON Schema, or an expression that the whole answer matches. */
  readonly responseConstraint?: object | RegExp;
  /** Whether the model is not told of a schema. @default false */
  readonly omitResponseConstraintInput?: boolean;
  readonly signal?: AbortSignal;
}

/** Whether a session can be created: after a download, or at once. */
export type Availability = 'unavailable' | 'downloadable' | 'downloading' | 'available';
