import { load } from 'tabserve';

const sentiment = await load('/models/sentiment/', { handler: 'text_classifier' });
console.log(await sentiment.predict('a good film')); // [{ label: 'POSITIVE', score: 0.98 }, …]
