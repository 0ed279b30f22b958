import { expect, test } from '@playwright/test';
import { readCall } from '../../../../src/page/ai-sdk/call.ts';

const prompt = [
  { role: 'system', content: 'Be brief.' },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'What is ' },
      { type: 'text', text: 'a cat?' },
    ],
  },
];

test('messages of parts, and the settings as params of the handler', () => {
  const call = readCall({
    prompt,
    maxOutputTokens: 5,
    temperature: 0.5,
    topP: 0.9,
    topK: 3,
    seed: 1,
    stopSequences: ['\n'],
    providerOptions: { tabserve: { minP: 0.1 }, other: { minP: 0.2 } },
  });
  expect(call).toEqual({
    input: {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'What is a cat?' },
      ],
    },
    params: {
      maxNewTokens: 5,
      doSample: true,
      temperature: 0.5,
      topP: 0.9,
      topK: 3,
      seed: 1,
      stop: ['\n'],
      minP: 0.1,
    },
    warnings: [],
  });
  expect(readCall({ prompt, stopSequences: [] }).params).toEqual({});
  expect(readCall({ prompt, temperature: 0, topP: 0.5 }).params).toEqual({ doSample: false, topP: 0.5 });
  expect(readCall({ prompt, topK: 2 }).params).toEqual({ doSample: true, topK: 2 });
});

test('the form of the answer', () => {
  const formOf = (responseFormat: { type: 'text' } | { type: 'json'; schema?: object }): unknown =>
    readCall({ prompt, responseFormat }).params['responseFormat'];
  expect(formOf({ type: 'text' })).toBe(undefined);
  expect(formOf({ type: 'json' })).toEqual({ type: 'json_object' });
  expect(formOf({ type: 'json', schema: { type: 'object' } })).toEqual({
    type: 'json_schema',
    schema: { type: 'object' },
  });
});

test('tools as chat templates expect them, and what is not supported as warnings', () => {
  const clock = { type: 'function', name: 'clock', description: 'The time', inputSchema: { type: 'object' } };
  const search = { type: 'provider', name: 'search' };
  const { input, params, warnings } = readCall({
    prompt,
    tools: [clock, search],
    toolChoice: { type: 'required' },
    frequencyPenalty: 1,
    presencePenalty: 0,
    reasoning: 'high',
  });
  expect(input.tools).toEqual([
    { type: 'function', function: { name: 'clock', description: 'The time', parameters: { type: 'object' } } },
  ]);
  expect(warnings.map(({ type, feature }) => [type, feature])).toEqual([
    ['unsupported', 'frequencyPenalty'],
    ['unsupported', 'tool search'],
  ]);
  expect(params).toEqual({
    toolChoice: 'required',
    chatTemplateKwargs: { reasoning_effort: 'high', enable_thinking: true },
  });
  const named = readCall({
    prompt,
    tools: [clock],
    toolChoice: { type: 'tool', toolName: 'clock' },
    reasoning: 'none',
  });
  expect(named.params).toEqual({
    toolChoice: { name: 'clock' },
    chatTemplateKwargs: { reasoning_effort: 'none', enable_thinking: false },
  });
  const none = readCall({ prompt, tools: [clock], toolChoice: { type: 'none' }, reasoning: 'provider-default' });
  expect([none.input.tools, none.params, none.warnings]).toEqual([undefined, {}, []]);
});

test('calls and results of tools, and reasoning, as chat templates expect them', () => {
  const result = (toolCallId: string, output: object): object & { type: string } =>
    Object.assign({ type: 'tool-result' }, { toolCallId, toolName: 'clock', output });
  const assistant = {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'The time?' },
      { type: 'text', text: 'I look.' },
      { type: 'tool-call', toolCallId: 'a', toolName: 'clock', input: { zone: 'CET' } },
    ],
  };
  const tool = {
    role: 'tool',
    content: [
      result('a', { type: 'json', value: { hour: 3 } }),
      result('b', { type: 'error-text', value: 'No such zone' }),
      result('c', { type: 'content', value: [{ type: 'text', text: 'late' }] }),
      result('d', { type: 'execution-denied', reason: 'Not now.' }),
    ],
  };
  const { messages } = readCall({ prompt: [assistant, tool] }).input;
  expect(messages).toEqual([
    {
      role: 'assistant',
      content: 'I look.',
      reasoning_content: 'The time?',
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'clock', arguments: { zone: 'CET' } } }],
    },
    { role: 'tool', tool_call_id: 'a', name: 'clock', content: '{"hour":3}' },
    { role: 'tool', tool_call_id: 'b', name: 'clock', content: 'No such zone' },
    { role: 'tool', tool_call_id: 'c', name: 'clock', content: 'late' },
    { role: 'tool', tool_call_id: 'd', name: 'clock', content: 'Not now.' },
  ]);
});

test('a part that is not supported is refused, with its place', () => {
  const file = { type: 'file' };
  const result = { type: 'tool-result', output: { type: 'content', value: [{ type: 'text', text: '' }, file] } };
  for (const [role, part, place] of [
    ['user', file, 'prompt[2].content[0]: expected a part of type "text"'],
    ['assistant', file, 'prompt[2].content[0]: expected a part of type "text"'],
    ['tool', file, 'prompt[2].content[0]: expected a part of type "tool-result"'],
    ['tool', result, 'prompt[2].content[0].output.value[1]: expected a part of type "text"'],
  ] as const)
    expect(() => readCall({ prompt: [...prompt, { role, content: [part] }] })).toThrow(
      `${place}, got one of type "file".`,
    );
});
