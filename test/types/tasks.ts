import { load } from 'tabserve';

const answerer = await load('https://huggingface.co/ORG/NAME', { handler: 'question_answerer' });
const [best] = await answerer.predict({ question: 'Where does Ada live?', context: 'Ada lives in London.' });
console.log(best?.answer, best?.score);

const classifier = await load('https://huggingface.co/ORG/OTHER', { handler: 'zero_shot_text_classifier' });
const labels = ['sports', 'science'];
console.log(await classifier.predict('The team has won in the last minute.', { params: { labels } }));

await answerer.dispose();
await classifier.dispose();
