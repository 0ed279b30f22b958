import { load, playSpeech, toWav } from 'tabserve';

const voice = await load('https://huggingface.co/Xenova/mms-tts-eng', { handler: 'text_to_speech' });

// To be called after a click: the first sentence is heard while the next ones are still being made.
export const say = (text: string) => playSpeech(voice.stream(text));

const { audio, parts } = await voice.predict('Hello there. How are you?');
const file = new Blob([toWav(audio)], { type: 'audio/wav' });
console.log(parts.length, file.size === 44 + 2 * audio.samples.length); // 2 true
