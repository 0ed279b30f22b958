import { load } from 'tabserve';

const classifier = await load('/models/vit-base-patch16-224/', { handler: 'image_classifier' });
console.log(await classifier.predict(document.querySelector('img')!));
await classifier.dispose();
