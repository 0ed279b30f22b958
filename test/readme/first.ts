import { load } from 'tabserve';
const model = await load('/models/digits/', { handler: 'image_classifier' });
const answer = await model.predict(document.querySelector('img')!);
console.log(answer[0], 'on', model.backend?.name);
