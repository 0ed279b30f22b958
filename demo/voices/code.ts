/** The code that the page shows. @param model what `load` takes, as code */
export const codeOf = (model: string): string => `import { load, playSpeech, toWav } from 'tabserve';

const voice = await load(${model}, { handler: 'text_to_speech' });

// After a click: the first sentence is heard while the next ones are still being made.
await playSpeech(voice.stream('Hello there. How are you?'));

const { audio } = await voice.predict('Hello there.');
const file = new Blob([toWav(audio)], { type: 'audio/wav' });
await voice.dispose();
`;
