import { load } from 'tabserve';

const languages = await load('/models/languages/', { handler: 'text_classifier' });
const text = 'Nachts schlafen die Katzen.';
const { label, words } = await languages.explain(text);

const [strongest] = [...words].sort((a, b) => b.weight - a.weight);
console.log(label, text.slice(strongest!.start, strongest!.end));
