import { load } from 'tabserve';

const classifier = await load('/models/digits/', { handler: 'image_classifier' });
const photo = document.querySelector('img')!; // or a File, a Blob, a canvas, a video, pixels …
console.log(await classifier.predict(photo)); // [{ label: 'three', score: 0.99 }, …]
console.log(classifier.backend); // { engine: 'onnx', name: 'wasm', skipped: [{ name: 'webgpu', reason: … }, …], … }
