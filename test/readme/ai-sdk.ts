import { streamText } from 'ai';
import { load } from 'tabserve';
import { tabserve } from 'tabserve/ai-sdk';

const client = await load('/models/writer/', { handler: 'text_generator' });
const { textStream, usage } = streamText({
  model: tabserve(client),
  prompt: 'Tell me a story about the sea.',
  maxOutputTokens: 8,
});
let story = '';
for await (const part of textStream) story += part;
console.log(story !== '', (await usage).outputTokens); // true 8
