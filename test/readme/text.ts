import { load } from 'tabserve';

const languages = await load('/models/languages/', { handler: 'text_classifier' });
console.log(await languages.predict('Wo ist der Bahnhof?', { params: { topK: 1 } })); // [{ label: 'German', score: 0.96 }]
