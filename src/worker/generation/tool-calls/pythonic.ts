import { PythonReader } from './python-reader.js';
import { allCalls, callOf, type ToolCallForm } from './form.js';

/**
 * `[f(a=1), g(b='x')]`, of Llama 3.2, OLMo 3 and Gemma 3 as the whole answer, and of LFM2 between two tokens. Nothing
 * tells calls from a list but the names of tools.
 */
export const pythonic: ToolCallForm = {
  sign: /<\|tool_call_start\|>|\[func_name1\(/,
  begins: ['<|tool_call_start|>', '<|python_start|>'],
  ends: ['<|tool_call_end|>', '<|python_end|>'],
  opening: '[',
  parse(text, tools) {
    const calls = new PythonReader(text.trim()).calls();
    if (!calls?.every(({ name }) => tools.has(name))) return undefined;
    return allCalls(calls.map(({ name, given }) => callOf(name, given)));
  },
};
