import { load } from 'tabserve';

const answerer = await load('https://huggingface.co/Xenova/distilbert-base-cased-distilled-squad', {
  handler: 'question_answerer',
});
const context = 'Ada lives in London.';
const [best] = await answerer.predict({ question: 'Where does Ada live?', context });
console.log(best?.answer, best?.score);
