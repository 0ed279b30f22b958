import { load } from 'tabserve';

const writer = await load('https://huggingface.co/onnx-community/whisper-tiny', { handler: 'speech_to_text' });

const input = document.querySelector('input')!;
input.addEventListener('change', async () => {
  const file = input.files![0]!; // or an AudioBuffer, or samples
  // The text while it is written:
  for await (const part of writer.stream(file)) if (typeof part === 'string') console.log(part);

  // Or all of it, with times:
  const params = { language: 'en', timestamps: 'segment' } as const;
  const { text, parts = [] } = await writer.predict(file, { params });
  for (const { start, end, text } of parts) console.log(start, end, text);
  console.log(text);
});
