import { load } from 'tabserve';

const classifier = await load('https://huggingface.co/Xenova/mobilebert-uncased-mnli', {
  handler: 'zero_shot_text_classifier',
});
const labels = ['sports', 'science'];
const [best] = await classifier.predict('The team has won in the last minute.', { params: { labels } });
console.log(best?.label, best?.score);
