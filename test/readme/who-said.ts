import { joinSpeakers, load } from 'tabserve';

const HUB = 'https://huggingface.co/onnx-community';
const writer = await load(`${HUB}/whisper-tiny_timestamped`, { handler: 'speech_to_text' });
const diarizer = await load(`${HUB}/pyannote-segmentation-3.0`, {
  handler: 'speaker_diarizer',
  config: { nodes: { embedder: `${HUB}/wespeaker-voxceleb-resnet34-LM` } },
});

const recording = await (await fetch('/models/vad/samples/fan.wav')).blob();
const turns = await diarizer.predict(recording); // [{ speaker: 'SPEAKER_00', start: 0.9, end: 2.4, score: 0.97 }, …]
const spoken = await writer.predict(recording, { params: { language: 'en', timestamps: 'word' } });

for (const { speaker, start, end, text } of joinSpeakers(spoken, turns)) console.log(speaker, start <= end, text);
