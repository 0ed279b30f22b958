import { load } from 'tabserve';

const classifier = await load('/models/mobilenet/', { handler: 'image_classifier' });
const photo = document.querySelector('img')!;
console.log(await classifier.predict(photo)); // [{ label: 'tabby', score: 0.53 }, …]
console.log(classifier.backend); // which engine and backend run, and how they were proven
