import { load } from 'tabserve';

const languages = await load('/models/languages/', {
  handler: 'text_classifier',
  onProgress: ({ phase, overall }) => console.debug(phase, overall.loaded, overall.total),
});
const [best] = await languages.predict('Wo ist der Bahnhof?');
console.log(best?.label); // German
