import { load } from 'tabserve';

const model = await load('https://huggingface.co/HuggingFaceTB/SmolVLM-256M-Instruct', {
  handler: 'image_text_to_text',
});
const image = document.querySelector('img')!; // or a File, a Blob, a canvas, a video, a URL, pixels …
const ask = (text: string) => ({
  messages: [
    {
      role: 'user',
      content: [
        { type: 'image', image },
        { type: 'text', text },
      ],
    },
  ],
});
let answer = '';
for await (const part of model.stream(ask('What is in this picture?'), { params: { maxNewTokens: 16 } }))
  if (typeof part === 'string') answer += part;
console.log(answer);
const { text, usage } = await model.predict(ask('What is it?'), { params: { maxNewTokens: 16 } });
console.log(text, `${usage.cachedTokens} of ${usage.promptTokens} tokens did not run again`);
