import { allCalls, callOf, callOfJson, endOfObject, jsonOf, type ToolCallForm, type WrittenCall } from './form.js';

const BEGIN = '[TOOL_CALLS]';
/** What comes before the arguments of a call: its name, and its id in some versions. */
const HEAD = /\s*(?:\[TOOL_CALLS\])?\s*([\w.-]+)\s*(?:\[CALL_ID\][^[]*)?(?:\[ARGS\])?\s*/y;

/**
 * `[TOOL_CALLS][{"name": …, "arguments": …}]` of Mistral's models; of the later ones `[TOOL_CALLS]NAME[ARGS]{…}`, one
 * after another.
 */
export const mistral: ToolCallForm = {
  sign: /\[TOOL_CALLS\]/,
  begins: [BEGIN],
  ends: [],
  tokens: ['[CALL_ID]', '[ARGS]'],
  guided: (template) =>
    template.includes('[ARGS]')
      ? { begin: BEGIN, between: BEGIN, end: '', around: (name) => [`${name}[ARGS]`, ''] }
      : {
          begin: `${BEGIN}[`,
          between: ', ',
          end: ']',
          around: (name) => [`{"name": ${JSON.stringify(name)}, "arguments": `, '}'],
        },
  parse(text) {
    const list = jsonOf(text);
    if (Array.isArray(list)) return allCalls(list.map(callOfJson));
    const calls: (WrittenCall | undefined)[] = [];
    const all = text.trimEnd();
    for (let at = 0; at < all.length;) {
      HEAD.lastIndex = at;
      const [, name] = HEAD.exec(all) ?? [];
      // Undefined where nothing was found, too.
      const end = endOfObject(all, HEAD.lastIndex);
      if (end === undefined) return undefined;
      calls.push(callOf(name, all.slice(HEAD.lastIndex, end)));
      at = end;
    }
    return allCalls(calls);
  },
};
