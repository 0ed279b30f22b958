/** Grammars of answers that must call a tool, with arguments that fit its schema. */
import { invalidInput } from '../../../contract/errors.js';
import { describeValue } from '../../../contract/describe-value.js';
import { isPlainObject } from '../../../shared/is-plain-object.js';
import { anyOf, bytes, oneOf, optional, repeat, sequence, text, type Grammar, type Rule } from '../grammar/grammar.js';
import { schemaGrammar } from '../grammar/json-schema.js';
import type { GuidedForm } from './form.js';
import type { AnswerMarks } from './answer-reader.js';

/** The maximum number of calls in one answer. */
const MAX_CALLS = 16;

/**
 * Returns the grammar of an answer that calls tools, after any reasoning.
 * @param only the tool that is called once; undefined for any of them, once or more often
 * @throws `invalid-input` naming what is wrong with a tool's parameters, or not supported of them
 */
export function requiredCalls(
  { reasoning, isReasoning, tools }: AnswerMarks,
  { begin, between, end, around }: GuidedForm,
  only: string | undefined,
): Grammar {
  const calls = [...tools].filter(([name]) => only === undefined || name === only);
  const call = oneOf(
    calls.map(([name, parameters]) => {
      const [before, after] = around(name);
      return sequence(text(before), argumentsGrammar(parameters, `tools: the parameters of "${name}"`), text(after));
    }),
  );
  const more = between === undefined || only !== undefined ? 0 : MAX_CALLS - 1;
  const all = sequence(text(begin), call, repeat(sequence(text(between ?? ''), call), 0, more), text(end));
  if (!reasoning) return all;
  const thoughts = sequence(upTo(reasoning.end), repeat(text('\n'), 0, 2));
  return sequence(isReasoning ? thoughts : optional(sequence(text(reasoning.begin), thoughts)), all);
}

/** Returns the grammar of a tool's arguments, which are an object. */
function argumentsGrammar(parameters: unknown, where: string): Grammar {
  const type = isPlainObject(parameters) ? parameters['type'] : undefined;
  if (!isPlainObject(parameters) || (type !== undefined && type !== 'object'))
    throw invalidInput(
      `${where}: expected a JSON Schema of the type object, such as { type: 'object', properties: {} }, got ${describeValue(type ?? parameters)}.`,
    );
  return schemaGrammar({ ...parameters, type: 'object' }, where);
}

/** Returns any text up to a mark of ASCII, with the mark. */
function upTo(mark: string): Grammar {
  /** What may come after this many characters of the mark. */
  const rules = Array.from(mark, (): Rule => ({ kind: 'rule' }));
  const letters = [...new Set(mark)];
  const other = bytes([0x09, 0x0a], [0x20, 0xff]);
  for (const letter of letters) other.set[letter.charCodeAt(0)] = 0;
  for (const [length, rule] of rules.entries())
    rule.body = oneOf([
      sequence(other, rules[0]!),
      ...letters.map((letter) => {
        const next = matched(mark, mark.slice(0, length) + letter);
        return next === mark.length ? anyOf(letter) : sequence(anyOf(letter), rules[next]!);
      }),
    ]);
  return rules[0]!;
}

/** Returns how many characters at the end of a text are the beginning of a mark. */
function matched(mark: string, written: string): number {
  let length = written.length;
  while (!mark.startsWith(written.slice(written.length - length))) length -= 1;
  return length;
}
