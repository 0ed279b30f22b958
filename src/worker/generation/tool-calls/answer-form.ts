/** What an answer to a conversation consists of. */
import { describeValue } from '../../../contract/describe-value.js';
import { invalidInput } from '../../../contract/errors.js';
import type { Chat } from '../../../shared/chat.js';
import { isPlainObject } from '../../../shared/is-plain-object.js';
import { isContinued, lastText } from '../continued-message.js';
import type { Automata } from '../grammar/automata.js';
import type { Automaton } from '../grammar/automaton.js';
import { opensReasoning, reasoningOf } from '../reasoning.js';
import { AnswerReader, type AnswerMarks } from './answer-reader.js';
import type { Tools } from './form.js';
import { FORMS, formOf } from './forms.js';
import type { NamedTool, ToolCallFormat, ToolChoice } from './tool-choice.js';
import { requiredCalls } from './required-calls.js';

/** The maximum number of characters of the JSON of tools that a grammar is made of. */
const MAX_LENGTH = 100_000;

/** How an answer is read, and what it must be. */
export interface AnswerForm {
  /** The special tokens that its marks consist of: they are in no text otherwise. */
  readonly tokens: readonly string[];
  /** Undefined if the model is free. */
  readonly grammar: Automaton | undefined;
  /** Undefined if all of it is text. */
  readonly reader?: () => AnswerReader;
}

interface Asked {
  readonly toolChoice: ToolChoice;
  /** Undefined for the one that the template has. */
  readonly format: ToolCallFormat | undefined;
  readonly automata: Automata;
}

/**
 * Returns the form of an answer; undefined if all of it is text.
 * @param template the source of the chat template
 * @param prompt what it has made of the conversation
 * @throws `invalid-input` for tools that the template leaves out, and for calls that cannot be asked for
 */
export function answerFormOf(
  chat: Chat,
  template: string,
  prompt: string,
  { toolChoice, format, automata }: Asked,
): AnswerForm | undefined {
  const reasoning = reasoningOf(template);
  const hasTools = chat.tools !== undefined && chat.tools.length > 0;
  if (hasTools && !/\btools\b/.test(template))
    throw invalidInput(
      'tools: the chat template of this model takes none, so it would not see them. Leave them out, or take a model whose template has them.',
    );
  const form = !hasTools ? undefined : format === undefined ? formOf(template) : FORMS[format];
  const isReasoning =
    reasoning !== undefined && opensReasoning(reasoning, prompt, isContinued(chat) ? lastText(chat) : '');
  const marks: AnswerMarks = { reasoning, isReasoning, form, tools: toolsOf(chat.tools ?? []) };
  const isRequired = toolChoice === 'required' || typeof toolChoice === 'object';
  if (isRequired) checkNamed(toolChoice, marks.tools);
  if (!reasoning && !form && !isRequired) return undefined;
  return {
    tokens: [
      ...(reasoning ? [reasoning.begin, reasoning.end, ...reasoning.tokens, ...reasoning.dropped] : []),
      ...(form ? [...form.begins, ...form.ends, ...(form.tokens ?? [])] : []),
    ],
    grammar: isRequired ? grammarOf(marks, toolChoice, template, automata) : undefined,
    reader: () => new AnswerReader(marks),
  };
}

function grammarOf(
  marks: AnswerMarks,
  toolChoice: 'required' | NamedTool,
  template: string,
  automata: Automata,
): Automaton {
  const guided = marks.form?.guided?.(template);
  if (!guided)
    throw invalidInput(
      `params.toolChoice: ${describeValue(toolChoice)} is not supported with this model: its calls are not in JSON that can be guided, as those of hermes, llama3-json and mistral are. Use 'auto', or name one of them by toolCallFormat.`,
    );
  const only = typeof toolChoice === 'object' ? toolChoice.name : undefined;
  const key = JSON.stringify([guided, marks.reasoning, marks.isReasoning, [...marks.tools], only]);
  if (key.length > MAX_LENGTH)
    throw invalidInput(
      `tools: they have ${key.length} characters of JSON; to guide calls, at most ${MAX_LENGTH} are supported.`,
    );
  return automata.of(key, () => requiredCalls(marks, guided, only));
}

/** @throws `invalid-input` if there is no such tool */
function checkNamed(toolChoice: 'required' | NamedTool, tools: Tools): void {
  const names = [...tools.keys()].join(', ');
  if (tools.size === 0)
    throw invalidInput(
      `params.toolChoice: ${describeValue(toolChoice)} needs tools, { type: 'function', function: { name, parameters } }, in the input.`,
    );
  if (typeof toolChoice === 'object' && !tools.has(toolChoice.name))
    throw invalidInput(
      `params.toolChoice: there is no tool ${describeValue(toolChoice.name)}. The tools are ${names}.`,
    );
}

/** Returns the parameters of tools by their names, of OpenAI's form and of the one without `function`. */
function toolsOf(tools: readonly unknown[]): Tools {
  const found = new Map<string, unknown>();
  for (const tool of tools) {
    const own = isPlainObject(tool) && isPlainObject(tool['function']) ? tool['function'] : tool;
    if (isPlainObject(own) && typeof own['name'] === 'string') found.set(own['name'], own['parameters']);
  }
  return found;
}
