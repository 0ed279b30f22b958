import { load } from 'tabserve';

const classifier = await load('https://huggingface.co/Xenova/vit-base-patch16-224', { handler: 'image_classifier' });
const photo = document.querySelector('img')!; // or a File, a Blob, a canvas, a video, a URL object
for (const { label, score } of await classifier.predict(photo, { params: { topK: 3 } })) console.log(label, score);
