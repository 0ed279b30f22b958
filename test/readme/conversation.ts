import { load } from 'tabserve';

const transcriber = await load('/models/conversation/', {
  handler: 'conversation_transcriber',
  allowedOrigins: ['https://huggingface.co'], // its nodes are there
});
const recording = await (await fetch('/models/vad/samples/fan.wav')).blob();
const { turns } = await transcriber.predict(recording, { params: { language: 'en' } });
for (const { speaker, start, end, text } of turns) console.log(speaker, start <= end, text); // 'SPEAKER_00', …
