/** Params of the handler that only a conversation has: tools, and what its template reads. */
import { isPlainObject } from '../../../shared/is-plain-object.js';
import type { FieldNames } from './field-names.js';
import type { ReadParams } from './params.js';
import { wrongField, wrongValue, type Body } from './request.js';

export const CHAT_FIELDS = ['tool_choice', 'chat_template_kwargs', 'reasoning_effort'];

/** Returns the params of these fields. @throws `invalid-input` naming what is wrong */
export function chatParamsOf(body: Body): ReadParams {
  const { chat_template_kwargs: given = {}, reasoning_effort: effort } = body;
  if (!isPlainObject(given)) throw wrongValue('chat_template_kwargs', 'an object', given);
  if (effort !== undefined && typeof effort !== 'string')
    throw wrongValue('reasoning_effort', 'a text, such as "low"', effort);
  // Templates read the one or the other.
  const asked = effort !== undefined && { reasoning_effort: effort, enable_thinking: effort !== 'none' };
  const variables = { ...asked, ...given };
  const toolChoice = toolChoiceOf(body);
  const hasVariables = Object.keys(variables).length > 0;
  const fields: FieldNames = new Map([
    ['toolChoice', 'tool_choice'],
    ['chatTemplateKwargs', 'chat_template_kwargs'],
  ]);
  const params = { ...(toolChoice && { toolChoice }), ...(hasVariables && { chatTemplateKwargs: variables }) };
  return { params, fields };
}

/** Returns the tools that must be called; undefined if none must: `none` leaves them out of the input. */
function toolChoiceOf({ tool_choice: choice = 'auto' }: Body): 'required' | { readonly name: string } | undefined {
  if (choice === 'auto' || choice === 'none') return undefined;
  if (choice === 'required') return choice;
  if (!isPlainObject(choice))
    throw wrongValue('tool_choice', '"none", "auto", "required" or { type: "function", function: { name } }', choice);
  if (choice['type'] !== 'function')
    throw wrongField('tool_choice', 'only the type "function" is supported here.', 'unsupported_value');
  const { function: called } = choice;
  if (!isPlainObject(called) || typeof called['name'] !== 'string')
    throw wrongValue('tool_choice.function', '{ name }', called);
  return { name: called['name'] };
}
