import OpenAI from 'openai';
import { load } from 'tabserve';
import { hostModels, whenControlled } from 'tabserve/service-worker';
import { ModelServer } from 'tabserve/serving';

await navigator.serviceWorker.register('/sw.js', { type: 'module' });
await whenControlled();
const server = new ModelServer();
await server.register(await load('/models/writer/'), { name: 'writer' });
await hostModels(server).ready;

// Anywhere in the app: OpenAI's client knows only the address.
const openai = new OpenAI({ baseURL: `${location.origin}/v1`, apiKey: 'none', dangerouslyAllowBrowser: true });
const stream = await openai.chat.completions.create({
  model: 'writer',
  messages: [{ role: 'user', content: 'Tell me a story about the sea.' }],
  max_tokens: 8,
  stream: true,
});
let story = '';
for await (const { choices } of stream) story += choices[0]?.delta.content ?? '';
console.log(story !== ''); // true
