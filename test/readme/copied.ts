import { load } from 'tabserve';

const classifier = await load('/models/digits/', { handler: 'image_classifier', assets: '/tabserve/' });
console.log(await classifier.predict(document.querySelector('img')!)); // [{ label: 'three', score: 0.97 }, …]
