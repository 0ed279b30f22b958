import { load } from 'tabserve';

const reader = await load('https://huggingface.co/onnx-community/GLM-OCR-ONNX', {
  handler: 'image_text_to_text',
});
const image = document.querySelector('img')!; // the photo of a page
const question = {
  messages: [
    {
      role: 'user',
      content: [
        { type: 'image', image },
        { type: 'text', text: 'Text Recognition:' },
      ],
    },
  ],
};
let markdown = '';
for await (const part of reader.stream(question, { params: { maxNewTokens: 4096 } }))
  if (typeof part === 'string') markdown += part;
console.log(markdown);
