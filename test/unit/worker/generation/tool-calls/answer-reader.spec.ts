// What an answer is split into, and that it does not depend on how its text arrives.
import { expect, test } from '@playwright/test';
import { opensReasoning, reasoningOf } from '../../../../../src/worker/generation/reasoning.ts';
import { AnswerReader } from '../../../../../src/worker/generation/tool-calls/answer-reader.ts';
import { FORMS } from '../../../../../src/worker/generation/tool-calls/forms.ts';
import type { ToolCallFormat } from '../../../../../src/worker/generation/tool-calls/tool-choice.ts';

const tools = new Map([['f', {}]]);
const HERMES = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>';
const THINK = reasoningOf('<think>')!;

interface Marks {
  readonly form?: ToolCallFormat;
  readonly template?: string;
  readonly isReasoning?: boolean;
  readonly isCut?: boolean;
}

/** Reads the pieces of a text. */
function read(pieces: readonly string[], { form, template = '', isReasoning = false, isCut = false }: Marks) {
  const reader = new AnswerReader({ reasoning: reasoningOf(template), isReasoning, form: form && FORMS[form], tools });
  const parts = [...pieces.flatMap((piece) => reader.add(piece)), ...reader.end(isCut)];
  const joined = (kind: 'text' | 'reasoning'): string =>
    parts.map((part) => (part.kind === kind ? part.text : '')).join('');
  const calls = parts.flatMap((part) => (part.kind === 'call' ? [part.call.arguments] : []));
  return { text: joined('text'), reasoning: joined('reasoning'), calls };
}

const CASES: readonly (readonly [text: string, marks: Marks, expected: Partial<ReturnType<typeof read>>])[] = [
  [' a <b \n', { form: 'hermes', template: '<think>' }, { text: ' a <b \n' }],
  [HERMES, { form: 'hermes' }, { calls: [{ a: 1 }] }],
  [`Wait. \n${HERMES}\n${HERMES}\n`, { form: 'hermes' }, { text: 'Wait.', calls: [{ a: 1 }, { a: 1 }] }],
  [`One ${HERMES} two `, { form: 'hermes' }, { text: 'One  two ', calls: [{ a: 1 }] }],
  // A mark of the end within an argument.
  [
    '<tool_call>{"name": "f", "arguments": {"a": "</tool_call>"}}</tool_call>',
    { form: 'hermes' },
    { calls: [{ a: '</tool_call>' }] },
  ],
  // What is no call, or is cut off, stays text.
  ['So <tool_call>{"name": 1}</tool_call> x', { form: 'hermes' }, { text: 'So <tool_call>{"name": 1}</tool_call> x' }],
  ['So <tool_call>{"name": "f", "arg', { form: 'hermes', isCut: true }, { text: 'So <tool_call>{"name": "f", "arg' }],
  ['<tool_call>f', { form: 'glm', isCut: true }, { text: '<tool_call>f' }],
  ['<tool_call>f', { form: 'glm' }, { calls: [{}] }],
  [HERMES, {}, { text: HERMES }],
  ['<think>\nHm.\n\nSo.\n</think>\n\nYes. ', { template: '<think>' }, { reasoning: 'Hm.\n\nSo.', text: 'Yes. ' }],
  ['Hm.\n</think>\n\nYes.', { template: '<think>', isReasoning: true }, { reasoning: 'Hm.', text: 'Yes.' }],
  ['Hm. ', { template: '<think>', isReasoning: true, isCut: true }, { reasoning: 'Hm.' }],
  [
    `<think>${HERMES}</think>${HERMES}`,
    { form: 'hermes', template: '<think>' },
    { reasoning: HERMES, calls: [{ a: 1 }] },
  ],
  [
    'So.\n<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>',
    { form: 'qwen3-coder' },
    { text: 'So.', calls: [{ a: 1 }] },
  ],
  [
    '<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>',
    { form: 'glm' },
    { calls: [{ a: 1 }] },
  ],
  ['[TOOL_CALLS]f[ARGS]{"a": 1}', { form: 'mistral' }, { calls: [{ a: 1 }] }],
  ['[THINK]Hm.[/THINK]Yes.', { template: '[THINK]' }, { reasoning: 'Hm.', text: 'Yes.' }],
  ['<|channel>thought\nHm.\n<channel|>Yes.', { template: '<channel|>' }, { reasoning: 'Hm.', text: 'Yes.' }],
  [
    '<|channel>thought\nHm.<channel|><|tool_call>call:f{a:1}<tool_call|>',
    { template: '<channel|>', form: 'gemma' },
    { reasoning: 'Hm.', calls: [{ a: 1 }] },
  ],
  [
    '<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes.',
    { template: '<|channel|>analysis' },
    { reasoning: 'Hm.', text: 'Yes.' },
  ],
  [
    '<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary<|message|>Let me see.<|end|><|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a":1}',
    { template: '<|channel|>analysis', form: 'gpt-oss' },
    { reasoning: 'Hm.', text: 'Let me see.', calls: [{ a: 1 }] },
  ],
  [
    '<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant to=functions.f<|channel|>commentary json<|message|>{"a":1}<|call|>',
    { template: '<|channel|>analysis', form: 'gpt-oss' },
    { reasoning: 'Hm.', calls: [{ a: 1 }] },
  ],
  // Forms that nothing marks are only at the start.
  ['\n{"name": "f", "parameters": {"a": 1}}', { form: 'llama3-json' }, { calls: [{ a: 1 }] }],
  ['{"name": "Bob"}\n', { form: 'llama3-json' }, { text: '{"name": "Bob"}\n' }],
  ['It is {"name": "f"}', { form: 'llama3-json' }, { text: 'It is {"name": "f"}' }],
  ['<|python_tag|>{"name": "f", "parameters": {"a": 1}}', { form: 'llama3-json' }, { calls: [{ a: 1 }] }],
  ['<think>Hm.</think>\n[f(a=1)]', { form: 'pythonic', template: '<think>' }, { reasoning: 'Hm.', calls: [{ a: 1 }] }],
  ['<|tool_call_start|>[f(a=1)]<|tool_call_end|>So.', { form: 'pythonic' }, { calls: [{ a: 1 }], text: 'So.' }],
  ['[TOOL_CALLS][{"name": "f", "arguments": {"a": 1}}]', { form: 'mistral', isCut: true }, { calls: [{ a: 1 }] }],
  [
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{"a":1}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    { form: 'deepseek' },
    { calls: [{ a: 1 }] },
  ],
];

test('text, reasoning and calls, however the text arrives', () => {
  for (const [text, marks, expected] of CASES)
    for (const pieces of piecesOf(text))
      expect(read(pieces, marks), pieces.join('|')).toEqual({ text: '', reasoning: '', calls: [], ...expected });
  const forms = new Set(CASES.filter(([, , { calls }]) => calls).map(([, { form }]) => form));
  expect([...forms].toSorted()).toEqual(Object.keys(FORMS).toSorted());
});

/** Returns a text in single characters, in pieces of several, and in two pieces that meet at each place. */
function piecesOf(text: string): readonly (readonly string[])[] {
  return [
    ...[1, 2, 3, 7].map((size) => text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g'))!),
    ...Array.from(text, (_, at) => [text.slice(0, at), text.slice(at)]),
  ];
}

test('text comes as soon as nothing can change it', () => {
  const reader = new AnswerReader({ reasoning: THINK, isReasoning: false, form: FORMS.hermes, tools });
  const written = (text: string) =>
    reader.add(text).map((part) => ('text' in part ? [part.kind, part.text] : part.kind));
  expect(written('Hello')).toEqual([['text', 'Hello']]);
  expect(written(' <t')).toEqual([]);
  expect(written('h')).toEqual([]);
  expect(written('e')).toEqual([['text', ' <the']]);
  expect(written('<think>a')).toEqual([['reasoning', 'a']]);
  expect(written('</think><tool_call>{"name": "f"}')).toEqual([]);
  expect(written('</tool_call>')).toEqual(['call']);
});

test('reasoning that the prompt has opened', () => {
  expect(opensReasoning(THINK, '<|im_start|>assistant\n<think>\n', '')).toBe(true);
  expect(opensReasoning(THINK, '<|im_start|>assistant\n<think>\n\n</think>\n\n', '')).toBe(false);
  expect(opensReasoning(THINK, 'Write <think>. <|im_start|>assistant\n', '')).toBe(false);
  expect(opensReasoning(THINK, 'assistant\n<think>\nI was', '<think>\nI was')).toBe(true);
  expect(opensReasoning(THINK, 'assistant\n<think>a</think>b', '<think>a</think>b')).toBe(false);
  expect(reasoningOf('{{ messages }}')).toBe(undefined);
});
