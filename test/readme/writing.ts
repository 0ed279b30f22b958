import { load } from 'tabserve';

// A repository of the Hub works alike: 'https://huggingface.co/ORG/NAME'.
const writer = await load('/models/writer/', { handler: 'text_generator' });
const chat = { messages: [{ role: 'user', content: 'Tell me a story about the sea.' }] };
let story = '';
for await (const part of writer.stream(chat, { params: { maxNewTokens: 8 } })) {
  if (typeof part === 'string') story += part; // whole characters, as soon as they are written
  else if ('usage' in part) console.log(part.text === story, part.finishReason, part.usage.completionTokens); // true 'length' 8
}
