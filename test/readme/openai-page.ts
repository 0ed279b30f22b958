import OpenAI from 'openai';
import { load } from 'tabserve';
import { ModelServer } from 'tabserve/serving';

const server = new ModelServer({ load });
await server.register('/models/writer/', { name: 'writer' });

const openai = new OpenAI({
  baseURL: `${location.origin}/v1`,
  apiKey: 'none',
  dangerouslyAllowBrowser: true,
  fetch: (url, init) => server.fetch(new Request(url, init)),
});
const { choices } = await openai.chat.completions.create({
  model: 'writer',
  messages: [{ role: 'user', content: 'Tell me a story about the sea.' }],
  max_tokens: 8,
});
console.log(choices[0]?.message.content !== ''); // true
