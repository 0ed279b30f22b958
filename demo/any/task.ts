/** What the pages know of a handler: the fields of its input, and how its answer is shown. */
import type { Client, Params } from '../../src/index.js';
import type { InputKind } from '../../src/contract/handler.js';

/** What a visitor gives a model. */
export interface Fields<Input = unknown> {
  readonly element: HTMLElement;
  /** Whether a picture is in them, which needs the space. */
  readonly hasPicture?: boolean;
  /** The input as a developer writes it. */
  readonly code: string;
  /** The `params` that fields of their own set, such as labels. */
  readonly params?: Params;
  /** Returns the input. @throws what the visitor can do about it */
  input(): Input;
  /** Takes a file that was dropped or pasted. Without it, there is nothing to do with one. */
  take?(file: File): void;
  dispose?(): void;
}

/** Where an answer is shown. */
export interface AnswerView<Answer = unknown, Input = unknown> {
  readonly element: HTMLElement;
  /** The `params` that its controls set. */
  readonly params?: Params;
  /** Shows the answer to an input. @returns it in a few words, for a screen reader */
  show(answer: Answer, input: Input): string;
  clear(): void;
  dispose?(): void;
}

/** Fields, and the view of the answer to what is in them. */
export interface Mounted<Input, Answer> {
  readonly fields: Fields<Input>;
  readonly view: AnswerView<Answer, Input>;
}

/** What fields and views tell the page. */
export interface TaskEvents {
  /** Is called when the visitor has chosen another input, or another setting of the answer. */
  chosen(): void;
  /** Is called when a sample or a file could not be read. */
  refused(error: unknown): void;
}

/** How a model is asked. */
export interface AskOptions {
  readonly params: Params;
  readonly signal: AbortSignal;
  /** Says how far a long answer is. */
  readonly says: (text: string) => void;
}

/** What is known of a handler before its model is opened. */
export interface KnownHandler {
  readonly takes: InputKind;
  /** The names of its model's files, without precision and ending, if it has several. */
  readonly parts?: readonly string[];
  /** An input, where it is no photo and no sound. */
  readonly input?: unknown;
  readonly params?: Params;
}

/** A handler, as the pages show it. */
export interface Task<Input = unknown, Answer = unknown> {
  /** The first `params`, as JSON that the visitor can change. */
  readonly params?: Params;
  /** The code that the page shows instead of `predict` with the input of the fields. */
  readonly sample?: Sample;
  mount(events: TaskEvents): Mounted<Input, Answer>;
  /** Asks the model, where the answer takes more than one `predict`. */
  ask?(model: Client, input: Input, options: AskOptions): Promise<Answer>;
}

/** What a developer writes after the model is loaded. */
export interface Sample {
  /** The names that it imports from `tabserve`, beside `load`. */
  readonly imports: readonly string[];
  /** @param options the second argument of `predict`, with a comma before it; empty if there is none */
  lines(options: string): string;
}
