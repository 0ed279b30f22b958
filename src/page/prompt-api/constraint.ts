/** What an answer must be. */
import type { Params } from '../../contract/handler.js';
import type { ChatMessage } from '../../shared/chat.js';
import type { PromptOptions } from './specification.js';

/** How an answer is guided. */
export interface Constraint {
  readonly params: Params;
  /** Whether the answer is a text of JSON whose value is the answer. */
  readonly isQuoted: boolean;
  /** What the model is told of it. */
  readonly note: string;
}

const NONE: Constraint = { params: {}, isQuoted: false, note: '' };

/** @throws `TypeError` for what is neither a schema nor an expression; `NotSupportedError` for flags that change it */
export function constraintOf({ responseConstraint, omitResponseConstraintInput }: PromptOptions): Constraint {
  if (responseConstraint === undefined) return NONE;
  if (typeof responseConstraint !== 'object' || responseConstraint === null)
    throw new TypeError('responseConstraint: expected a JSON Schema or a RegExp.');
  const isPattern = responseConstraint instanceof RegExp;
  if (isPattern && /[imsy]/.test(responseConstraint.flags))
    throw new DOMException(`The flags "${responseConstraint.flags}" are not supported.`, 'NotSupportedError');
  const schema = isPattern ? { type: 'string', pattern: `^(?:${responseConstraint.source})$` } : responseConstraint;
  return {
    params: { responseFormat: { type: 'json_schema', schema } },
    isQuoted: isPattern,
    note:
      omitResponseConstraintInput || isPattern ? '' : `\n\nAnswer in JSON of this schema: ${JSON.stringify(schema)}`,
  };
}

/** Returns messages whose last one of the user ends with a note. */
export function withNote(messages: readonly ChatMessage[], note: string): readonly ChatMessage[] {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  if (note === '' || last === -1) return messages;
  const { content, ...message } = messages[last]!;
  const noted = typeof content === 'string' ? content + note : [...(content as object[]), { type: 'text', text: note }];
  return messages.with(last, { ...message, content: noted });
}
