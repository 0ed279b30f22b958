import { allCalls, callOfJson, endOfObject, jsonOf, type ToolCallForm, type WrittenCall } from './form.js';

/**
 * `{"name": …, "parameters": …}` as the whole answer, or after a token of Llama 3 or 4. Several are separated by
 * semicolons. Nothing tells a call from an answer in JSON but the name of a tool.
 */
export const llama3Json: ToolCallForm = {
  sign: /<\|python_tag\|>|"parameters": dictionary/,
  begins: ['<|python_tag|>', '<|python_start|>'],
  ends: ['<|python_end|>'],
  opening: '{',
  guided: () => ({
    begin: '',
    end: '',
    around: (name) => [`{"name": ${JSON.stringify(name)}, "parameters": `, '}'],
  }),
  parse(text, tools) {
    const isKnown = (call: WrittenCall | undefined): boolean => call !== undefined && tools.has(call.name);
    const calls = objectsOf(text)?.map((one) => callOfJson(jsonOf(one)));
    return calls?.every(isKnown) ? allCalls(calls) : undefined;
  },
};

/** Returns the texts of the objects of JSON that a text has beside one another; undefined if there is something else. */
function objectsOf(text: string): readonly string[] | undefined {
  const found: string[] = [];
  for (let at = 0; at < text.length; at++) {
    if (/[\s;,]/.test(text[at]!)) continue;
    const end = endOfObject(text, at);
    if (end === undefined) return undefined;
    found.push(text.slice(at, end));
    at = end - 1;
  }
  return found;
}
