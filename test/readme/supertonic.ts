import { load, playSpeech } from 'tabserve';

const voice = await load('https://huggingface.co/onnx-community/Supertonic-TTS-2-ONNX', {
  handler: 'text_to_speech',
  config: { handler: { voices: ['M1'] } },
});
export const say = (text: string) => playSpeech(voice.stream(text, { params: { language: 'en' } })); // after a click

const { audio } = await voice.predict('Hello there.', { params: { language: 'en', seed: 7, numInferenceSteps: 5 } });
console.log(audio.samples.length > 0, audio.sampleRate); // true 44100
