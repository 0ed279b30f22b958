import { load } from 'tabserve';

const file = document.querySelector('input')!.files![0]!;

const writer = await load('https://huggingface.co/onnx-community/whisper-tiny', { handler: 'speech_to_text' });
const params = { language: 'en', timestamps: 'segment' } as const;
const { parts = [] } = await writer.predict(file, { params });
for (const { start, end, text } of parts) console.log(start, end, text);

for await (const part of writer.stream(file)) if (typeof part === 'string') console.log(part);
