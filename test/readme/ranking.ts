import { load } from 'tabserve';

const reranker = await load('https://huggingface.co/Xenova/ms-marco-MiniLM-L-6-v2', { handler: 'text_reranker' });
const query = 'What is the time in London?';
const texts = [
  'The cat sat on the mat.',
  'London has the time of Greenwich.',
  'Once upon a time there was a small island in the northern sea, and on it stood a lighthouse with a green door.',
];
for (const { index, score } of await reranker.predict({ query, texts })) console.log(texts[index], score.toFixed(2));
