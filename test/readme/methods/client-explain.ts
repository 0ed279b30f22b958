import { load } from 'tabserve';

const languages = await load('/models/languages/', { handler: 'text_classifier' });
const { label, words } = await languages.explain('Nachts schlafen die Katzen.', { target: 'German' });
console.log(label, words.length); // German 5: the full stop is one of them
