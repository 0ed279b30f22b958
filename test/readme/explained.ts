import { load, paintHeatMap } from 'tabserve';

const classifier = await load('/models/digits/', { handler: 'image_classifier' });
const photo = document.querySelector('img')!;
const cancel = new AbortController(); // cancel.abort() ends it

const explanation = await classifier.explain(photo, {
  method: 'rise',
  seed: 7,
  signal: cancel.signal,
  onProgress: ({ done, total }) => (document.title = `${Math.round((100 * done) / total)}%`),
});
console.log(explanation.label, explanation.score); // three 0.99

const canvas = document.createElement('canvas');
Object.assign(canvas, { width: explanation.width, height: explanation.height });
const drawing = canvas.getContext('2d')!;
drawing.drawImage(photo, 0, 0, canvas.width, canvas.height);
drawing.drawImage(await createImageBitmap(paintHeatMap(explanation)), 0, 0); // red where the digit supports "three"
photo.replaceWith(canvas);
