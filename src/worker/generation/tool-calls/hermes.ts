import { allCalls, callOfJson, jsonOf, type ToolCallForm } from './form.js';

/** `<tool_call>{"name": …, "arguments": …}</tool_call>`, of Hermes, Qwen 2.5 and 3, and Granite 4. */
export const hermes: ToolCallForm = {
  sign: /<tool_call>/,
  begins: ['<tool_call>'],
  ends: ['</tool_call>'],
  guided: () => ({
    begin: '<tool_call>\n',
    between: '\n</tool_call>\n<tool_call>\n',
    end: '\n</tool_call>',
    around: (name) => [`{"name": ${JSON.stringify(name)}, "arguments": `, '}'],
  }),
  parse: (text) => allCalls([callOfJson(jsonOf(text))]),
};
