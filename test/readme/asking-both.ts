import { load } from 'tabserve';

const model = await load('https://huggingface.co/onnx-community/gemma-4-E2B-it-ONNX', {
  handler: 'image_text_to_text',
});
const { media } = await model.describe();
console.log(media); // ['image', 'audio']
const image = document.querySelector('img')!;
const audio = new URL('/models/vad/samples/platform.wav', location.href);
const { text, usage } = await model.predict(
  {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image', image },
          { type: 'audio', audio },
          { type: 'text', text: 'Does the picture show what is said?' },
        ],
      },
    ],
  },
  { params: { maxNewTokens: 16 } },
);
console.log(text, usage.promptTokens);
