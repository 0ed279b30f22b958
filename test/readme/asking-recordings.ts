import { load } from 'tabserve';

const model = await load('https://huggingface.co/onnx-community/Voxtral-Mini-3B-2507-ONNX', {
  handler: 'audio_text_to_text',
});
const audio = new URL('/models/vad/samples/platform.wav', location.href); // or a File, a Blob, an AudioBuffer, samples …
const { text, usage } = await model.predict(
  {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'audio', audio },
          { type: 'text', text: 'What is said?' },
        ],
      },
    ],
  },
  { params: { maxNewTokens: 16 } },
);
console.log(text, usage.promptTokens);
