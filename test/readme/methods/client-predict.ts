import { load } from 'tabserve';

const languages = await load('/models/languages/', { handler: 'text_classifier' });
const [best] = await languages.predict('Wo ist der Bahnhof?', { params: { topK: 1 }, timeout: 5000 });
console.log(best); // { label: 'German', score: 0.96 }
