import { load } from 'tabserve';
import { languageModel } from 'tabserve/prompt-api';

// Chrome's own model, if you prefer it where it is there: globalThis.LanguageModel ?? languageModel(…)
const LanguageModel = languageModel((options) => load('/models/writer/', { handler: 'text_generator', ...options }));

console.log(await LanguageModel.availability()); // 'downloadable'
const session = await LanguageModel.create({
  initialPrompts: [{ role: 'system', content: 'You tell tales. ' }],
  monitor: (monitor) => monitor.addEventListener('downloadprogress', (event) => console.debug(event)),
});
const mood = await session.prompt('How does the princess feel? ', {
  responseConstraint: { enum: ['happy', 'sad'] },
  omitResponseConstraintInput: true,
});
console.log(['happy', 'sad'].includes(JSON.parse(mood) as string), session.contextUsage <= session.contextWindow);
let tale = '';
for await (const part of session.promptStreaming('Once upon a time')) {
  tale += part;
  if (tale.length > 20) break; // ends the answer
}
console.log(tale !== '');
session.destroy();
await LanguageModel.dispose();
