import { load } from 'tabserve';

const writer = await load('/models/writer/', { handler: 'text_generator' });
const parameters = {
  type: 'object',
  properties: { a: { type: 'integer' }, b: { type: 'integer' } },
  required: ['a', 'b'],
  additionalProperties: false,
};
const tools = [{ type: 'function', function: { name: 'add', description: 'Adds two numbers.', parameters } }];
const question = { role: 'user', content: 'How many are three apples and four apples?' };

// This model is too small to decide by itself. For one that has learnt it, leave out toolChoice.
const params = { toolChoice: { name: 'add' }, maxNewTokens: 200 };
const { toolCalls = [], finishReason } = await writer.predict({ messages: [question], tools }, { params });
console.log(finishReason, toolCalls.length); // 'tool_calls' 1

// The app runs the tool, and the model goes on with what it gave.
const [{ id, name, arguments: given }] = toolCalls as [(typeof toolCalls)[number]];
const { a, b } = given as { a: number; b: number };
const messages = [
  question,
  { role: 'assistant', content: '', tool_calls: [{ id, type: 'function', function: { name, arguments: given } }] },
  { role: 'tool', tool_call_id: id, content: `They are ${a + b}` },
];
const answer = await writer.predict({ messages, tools }, { params: { maxNewTokens: 8 } });
console.log(name, Number.isInteger(a + b), answer.text !== ''); // 'add' true true
