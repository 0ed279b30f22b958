import { load } from 'tabserve';

const writer = await load('/models/writer/', { handler: 'text_generator' });
const messages = [{ role: 'user', content: 'Tell me a story about the sea.' }];
let text = '';
for await (const part of writer.stream({ messages }, { params: { maxNewTokens: 8 } })) {
  if (typeof part === 'string') text += part;
  else if ('usage' in part) console.log(part.text === text); // true: the last item is the whole answer
}
