import { load } from 'tabserve';

const writer = await load('https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct', {
  handler: 'text_generator',
  onProgress: ({ overall }) => console.debug(overall.fraction),
});
const messages = [{ role: 'user', content: 'Tell me about the sea.' }];
const params = { maxNewTokens: 32, doSample: true, temperature: 0.7 };
let answer = '';
for await (const part of writer.stream({ messages }, { params })) if (typeof part === 'string') answer += part;
console.log(answer);
