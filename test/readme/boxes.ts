import { load } from 'tabserve';

const detector = await load('/models/centernet/', { handler: 'object_detector' });
const photo = document.querySelector('img')!;
for (const { label, score, box } of await detector.predict(photo, {
  params: { scoreThreshold: 0.5, maxDetections: 10 },
})) {
  console.log(label, score, box); // cat 0.56 { xmin: 0.7, ymin: 3.7, xmax: 418.5, ymax: 297.9 }
}
