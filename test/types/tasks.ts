import { load } from 'tabserve';

const answerer = await load('https://huggingface.co/ORG/NAME', { handler: 'question_answerer' });
const [best] = await answerer.predict({ question: 'Where does Ada live?', context: 'Ada lives in London.' });
console.log(best?.answer, best?.score);

const classifier = await load('https://huggingface.co/ORG/NAME', { handler: 'zero_shot_text_classifier' });
const labels = ['sports', 'science'];
console.log(await classifier.predict('The team has won in the last minute.', { params: { labels } }));

const finder = await load('https://huggingface.co/ORG/NAME', { handler: 'token_classifier' });
const entities = await finder.predict('Ada lives in London.', { params: { aggregationStrategy: 'simple' } });
for (const { label, word } of entities) console.log(label, word);

const filler = await load('https://huggingface.co/ORG/NAME', { handler: 'fill_mask' });
const [words] = await filler.predict('London is the [MASK] of England.');
console.log(words?.[0]?.label);

for (const client of [answerer, classifier, finder, filler]) await client.dispose();
