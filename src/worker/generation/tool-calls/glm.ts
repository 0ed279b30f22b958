import { allCalls, bareArgument, callOf, type ToolCallForm } from './form.js';

/** `<tool_call>NAME<arg_key>KEY</arg_key><arg_value>VALUE</arg_value></tool_call>`, of GLM 4.5 and later. */
export const glm: ToolCallForm = {
  sign: /<arg_key>/,
  begins: ['<tool_call>'],
  ends: ['</tool_call>'],
  tokens: ['<arg_key>', '</arg_key>', '<arg_value>', '</arg_value>'],
  parse(text, tools) {
    const [, name = '', body = ''] = /^\s*([^\s<]+)\s*([\s\S]*)$/.exec(text) ?? [];
    const pair = /<arg_key>([\s\S]*?)<\/arg_key>\s*<arg_value>([\s\S]*?)<\/arg_value>\s*/g;
    if (body.replace(pair, '') !== '') return undefined;
    const pairs = [...body.matchAll(pair)].map(([, given, value]) => {
      const key = given!.trim();
      return [key, bareArgument(value!, tools.get(name), key)];
    });
    return allCalls([callOf(name, Object.fromEntries(pairs))]);
  },
};
