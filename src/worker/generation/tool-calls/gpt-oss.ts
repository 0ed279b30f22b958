import { allCalls, callOf, type ToolCallForm } from './form.js';

/**
 * Messages to `functions.NAME`, of gpt-oss: `<|channel|>commentary to=functions.NAME <|constrain|>json<|message|>{…}`,
 * where the recipient may also come before the channel. `<|call|>` ends the answer.
 */
export const gptOss: ToolCallForm = {
  sign: /<\|channel\|>/,
  begins: ['<|channel|>commentary to=', '<|channel|>analysis to=', ' to=functions.'],
  ends: ['<|call|>'],
  tokens: ['<|channel|>', '<|constrain|>', '<|message|>'],
  parse(text) {
    const [, name, given] = /^(?:functions\.)?([\w.-]+)[^{]*?<\|message\|>([\s\S]*)$/.exec(text) ?? [];
    return allCalls([callOf(name, given)]);
  },
};
