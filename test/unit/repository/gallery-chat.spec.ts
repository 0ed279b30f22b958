/** The gallery's page *Chat*: what it computes for a model, and how a conversation goes on. */
import { expect, test } from '@playwright/test';
import { calculate } from '../../../demo/chat/calculator.ts';
import { answer, type Message } from '../../../demo/chat/conversation.ts';
import { runTool } from '../../../demo/chat/tools.ts';

// Python's values.
for (const [expression, value] of [
  ['(12 + 30) * 1.5', 63],
  ['2 + 3 * 4 - 5', 9],
  ['-2 ** 2', -4],
  ['2 ^ 3 ^ 2', 512],
  ['2 ** -1', 0.5],
  ['10 - 3 - 2', 5],
  ['7 % 4 + .5', 3.5],
  ['1e3 / 8', 125],
] as const)
  test(`${expression} is ${value}`, () => {
    expect(calculate(expression)).toBe(value);
  });

for (const [expression, says] of [
  ['', 'A number is missing at the end.'],
  ['2 +', 'A number is missing at the end.'],
  ['2 + * 3', 'A number is missing before “*”.'],
  ['(2', 'A closing parenthesis is missing.'],
  ['2 3', '“3” is not expected there.'],
  ['alert(1)', '“a” is no arithmetic.'],
  ['('.repeat(101), 'The expression has too many parentheses or signs.'],
] as const)
  test(`what is wrong with ${expression.slice(0, 9) || 'nothing'}: ${says}`, () => {
    expect(() => calculate(expression)).toThrow(says);
    expect(runTool('calculate', { expression })).toBe(says);
  });

const PARAMS = { maxNewTokens: 9, doSample: false, seed: 1 };
const USAGE = { promptTokens: 1, cachedTokens: 0, completionTokens: 2 };
const called = (expression: string) => [
  { toolCall: { id: 'call00001', name: 'calculate', arguments: { expression } } },
  { text: '', finishReason: 'tool_calls', usage: USAGE },
];
const wrote = (text: string) => [text, { text, finishReason: 'stop', usage: USAGE }];

/** A model that gives these answers, one after the other. */
function model(...answers: readonly (readonly unknown[])[]) {
  const asked: { readonly messages: number; readonly tools: boolean; readonly params: object }[] = [];
  const client = {
    async *stream(
      { messages, tools }: { readonly messages: readonly unknown[]; readonly tools?: unknown },
      { params }: { readonly params: object },
    ) {
      asked.push({ messages: messages.length, tools: tools !== undefined, params });
      yield* answers[asked.length - 1]!;
    },
  };
  return { client: client as never, asked };
}

function view() {
  const seen: string[] = [];
  const add = (kind: string) => (part: string) => void seen.push(`${kind}: ${part}`);
  const call = (name: string, given: unknown, output: string): void =>
    void seen.push(`${name}(${JSON.stringify(given)}) = ${output}`);
  return { seen, text: add('text'), thought: add('thought'), called: call };
}

test('a tool that the model calls is run, and the model goes on with its output', async () => {
  const { client, asked } = model([{ reasoning: 'It is arithmetic.' }, ...called('6 * 7')], wrote('It is 42.'));
  const messages: Message[] = [{ role: 'user', content: 'What is 6 * 7?' }];
  const seen = view();
  const schema = { type: 'json_schema' as const, schema: {} };
  const given = { ...PARAMS, tools: 'required' as const, responseFormat: schema };
  const { tokens } = await answer(client, messages, given, seen, new AbortController().signal);
  expect(tokens).toBe(2);
  expect(seen.seen).toEqual([
    'thought: It is arithmetic.',
    'calculate({"expression":"6 * 7"}) = 42',
    'text: It is 42.',
  ]);
  expect(messages).toEqual([
    { role: 'user', content: 'What is 6 * 7?' },
    {
      role: 'assistant',
      content: '',
      tool_calls: [
        { id: 'call00001', type: 'function', function: { name: 'calculate', arguments: { expression: '6 * 7' } } },
      ],
    },
    { role: 'tool', tool_call_id: 'call00001', name: 'calculate', content: '42' },
    { role: 'assistant', content: 'It is 42.' },
  ]);
  expect(asked).toEqual([
    { messages: 1, tools: true, params: { ...PARAMS, toolChoice: 'required' } },
    { messages: 3, tools: true, params: { ...PARAMS, responseFormat: schema } },
  ]);
});

test('a model that calls tools again and again has none after four turns', async () => {
  const { client, asked } = model(...Array.from({ length: 4 }, () => called('1')), wrote('One.'));
  await answer(client, [], { ...PARAMS, tools: 'auto' }, view(), new AbortController().signal);
  expect(asked.map(({ tools }) => tools)).toEqual([true, true, true, true, false]);
});

test('what was written before an answer was stopped stays in the conversation', async () => {
  const messages: Message[] = [{ role: 'user', content: 'A tale, please.' }];
  const client = {
    async *stream() {
      yield 'Once upon';
      throw new Error('stopped');
    },
  };
  const asked = answer(client as never, messages, { ...PARAMS, tools: 'none' }, view(), new AbortController().signal);
  await expect(asked).rejects.toThrow('stopped');
  expect(messages.at(-1)).toEqual({ role: 'assistant', content: 'Once upon' });
});
