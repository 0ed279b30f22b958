import { load } from 'tabserve';

const detector = await load('/models/nanodet/', { handler: 'object_detector' });
const photo = document.querySelector('img')!;
for (const { label, score, box } of await detector.predict(photo, { params: { scoreThreshold: 0.5 } })) {
  console.log(label, score, box); // cat 0.58 { xmin: 3.1, ymin: 0.6, xmax: 433.7, ymax: 297.2 }
}
