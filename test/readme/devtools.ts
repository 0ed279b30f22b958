import { load } from 'tabserve';
import { mountDevtools } from 'tabserve/devtools';

const classifier = await load('/models/digits/', { handler: 'image_classifier' });
const panel = mountDevtools([classifier]); // at the bottom of the page, until panel.remove()

await classifier.predict(document.querySelector('img')!);
console.log(panel.clients.length, classifier.workerStatus[0]?.state); // 1 ready
