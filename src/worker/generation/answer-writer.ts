import type { AnswerToken } from './token-texts.js';
import type { AnswerPart, AnswerReader } from './tool-calls/answer-reader.js';

/** A call of a tool. The app calls it, and sends the result as a message of the role `tool`. */
export interface ToolCall {
  /** Nine letters and digits. */
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** A part of a streamed answer: some of its reasoning. */
export interface ReasoningPart {
  readonly reasoning: string;
}

/** A part of a streamed answer: a call of a tool. */
export interface ToolCallPart {
  readonly toolCall: ToolCall;
}

/** With `topLogprobs`, a part of a streamed answer: the tokens that make the part after it. */
export interface TokensPart {
  readonly tokens: readonly AnswerToken[];
}

type Part = string | ReasoningPart | ToolCallPart | TokensPart;

/** What is known of an answer that another worker has begun. */
interface BegunParts {
  /** How many parts were sent. */
  readonly parts: number;
  readonly callId: string;
}

/** Sends a part of an answer. @param count how many parts there are, with this one */
type Send = (part: Part, count: number) => Promise<void>;

/** Collects an answer, and sends its parts. */
export class AnswerWriter {
  readonly toolCalls: ToolCall[] = [];
  /** What the ids of calls begin with. Some chat templates take only ids of nine letters and digits. */
  readonly callId: string;
  text = '';
  reasoning = '';
  readonly #reader: AnswerReader | undefined;
  readonly #sent: number;
  readonly #send: Send;
  readonly #newTokens: (() => readonly AnswerToken[]) | undefined;
  #count = 0;

  /**
   * @param reader undefined if all of the answer is text
   * @param newTokens returns the tokens since its last call; undefined if they are not told
   */
  constructor(
    reader: AnswerReader | undefined,
    begun: BegunParts | undefined,
    send: Send,
    newTokens?: () => readonly AnswerToken[],
  ) {
    this.#reader = reader;
    this.#send = send;
    this.#newTokens = newTokens;
    this.#sent = begun?.parts ?? 0;
    this.callId = begun?.callId ?? randomText(7);
  }

  /** Adds text, as the model has written it. */
  async add(text: string): Promise<void> {
    await this.#write(this.#reader ? this.#reader.add(text) : textPart(text));
  }

  /** Ends the answer. @param isCut whether it has reached a limit */
  async end(isCut: boolean): Promise<void> {
    await this.#write(this.#reader?.end(isCut) ?? []);
  }

  async #write(parts: readonly AnswerPart[]): Promise<void> {
    for (const part of parts) {
      if (this.#newTokens) await this.#deliver({ tokens: this.#newTokens() });
      await this.#deliver(this.#collect(part));
    }
  }

  async #deliver(part: Part): Promise<void> {
    this.#count += 1;
    // Those before were sent by a worker that was lost.
    if (this.#count > this.#sent) await this.#send(part, this.#count);
  }

  #collect(part: AnswerPart): string | ReasoningPart | ToolCallPart {
    switch (part.kind) {
      case 'text':
        this.text += part.text;
        return part.text;
      case 'reasoning':
        this.reasoning += part.text;
        return { reasoning: part.text };
      case 'call': {
        const id = this.callId + this.toolCalls.length.toString(36).padStart(2, '0');
        const toolCall = { id, ...part.call };
        this.toolCalls.push(toolCall);
        return { toolCall };
      }
    }
  }
}

function textPart(text: string): readonly AnswerPart[] {
  return text === '' ? [] : [{ kind: 'text', text }];
}

/** Returns this many random letters and digits. */
function randomText(length: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(length)), (byte) => (byte % 36).toString(36)).join('');
}
