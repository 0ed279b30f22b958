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
  const { input, warnings } = readCall({
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
    ['unsupported', 'reasoning'],
    ['unsupported', 'tool search'],
    ['unsupported', 'tools'],
    ['unsupported', 'toolChoice'],
  ]);
  const none = readCall({ prompt, tools: [clock], toolChoice: { type: 'none' }, reasoning: 'provider-default' });
  expect([none.input.tools, none.warnings]).toEqual([undefined, []]);
});

test('a part that is no text is refused, with its place', () => {
  const call = { role: 'assistant', content: [{ type: 'tool-call', toolName: 'clock' }] };
  expect(() => readCall({ prompt: [...prompt, call] })).toThrow(
    'prompt[2].content[0]: expected a part of type "text", got one of type "tool-call".',
  );
});
