import { load, type ImageClassifier } from 'tabserve';
import { ModelServer } from 'tabserve/serving';

const server = new ModelServer({ load });
await server.register('/models/digits/', { name: 'digits', handler: 'image_classifier' });

const photo = await (await fetch('/models/digits/samples/drawn-3.png')).blob();
const response = await server.fetch(new Request('/predictions/digits', { method: 'POST', body: photo }));
console.log(response.status, Object.keys(await response.json())[0]); // 200 three

const answer = await server.predict<ImageClassifier>('digits', photo); // what Client.predict returns
console.log(answer); // [{ label: 'three', score: 0.98 }, …]
await server.dispose();
