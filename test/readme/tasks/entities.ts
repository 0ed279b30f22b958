import { load } from 'tabserve';

const finder = await load('https://huggingface.co/Xenova/bert-base-NER', { handler: 'token_classifier' });
const params = { aggregationStrategy: 'simple' } as const;
const entities = await finder.predict('Ada lives in London.', { params });
for (const { label, word, start, end } of entities) console.log(label, word, start, end);
console.log(entities.length, 'found');
