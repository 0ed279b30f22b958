import { allCalls, bareArgument, callOf, type ToolCallForm } from './form.js';

/** `<tool_call><function=NAME><parameter=KEY>VALUE</parameter></function></tool_call>`, of Qwen3-Coder and Qwen 3.5. */
export const qwen3Coder: ToolCallForm = {
  sign: /<function=/,
  begins: ['<tool_call>'],
  ends: ['</tool_call>'],
  parse(text, tools) {
    const calls = [...text.matchAll(/<function=([^>]+)>([\s\S]*?)<\/function>/g)].map(([, given, body]) => {
      const name = given!.trim();
      const pairs = [...body!.matchAll(/<parameter=([^>]+)>([\s\S]*?)<\/parameter>/g)].map(([, key, value]) => [
        key!.trim(),
        // The template writes a line break before and after a value.
        bareArgument(value!.replace(/^\n|\n$/g, ''), tools.get(name), key!.trim()),
      ]);
      return callOf(name, Object.fromEntries(pairs));
    });
    return allCalls(calls);
  },
};
