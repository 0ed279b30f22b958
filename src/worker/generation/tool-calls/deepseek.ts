import { allCalls, callOf, type ToolCallForm } from './form.js';

const [CALL, END, SEPARATOR] = ['<｜tool▁call▁begin｜>', '<｜tool▁call▁end｜>', '<｜tool▁sep｜>'] as const;
/** Of V3 and R1: the kind of the tool, its name, and the arguments in a block of code. */
const V3 = /^\s*function<｜tool▁sep｜>([^\n]+)\n```json\n([\s\S]*?)\n```\s*$/;
/** Of V3.1: the name and the arguments. */
const V31 = /^\s*([^\n]+?)<｜tool▁sep｜>([\s\S]*)$/;

/** `<｜tool▁calls▁begin｜>` and calls, of DeepSeek V3, R1 and V3.1. */
export const deepseek: ToolCallForm = {
  sign: /<｜tool▁calls▁begin｜>/,
  begins: ['<｜tool▁calls▁begin｜>'],
  ends: ['<｜tool▁calls▁end｜>'],
  tokens: [CALL, END, SEPARATOR],
  parse(text) {
    const [before, ...bodies] = text.split(CALL);
    if (before!.trim() !== '') return undefined;
    return allCalls(
      bodies.map((body) => {
        const inner = body.trimEnd();
        if (!inner.endsWith(END)) return undefined;
        const written = inner.slice(0, -END.length);
        const [, name, given] = V3.exec(written) ?? V31.exec(written) ?? [];
        return callOf(name?.trim(), given);
      }),
    );
  },
};
