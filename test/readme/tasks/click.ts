import { load, paintInstances } from 'tabserve';

const segmenter = await load('https://huggingface.co/Xenova/slimsam-77-uniform', { handler: 'promptable_segmenter' });
const photo = document.querySelector('img')!;
const canvas = document.querySelector('canvas')!;
[canvas.width, canvas.height] = [photo.naturalWidth, photo.naturalHeight];
const kept = await segmenter.keep(photo);

canvas.addEventListener('click', async ({ offsetX, offsetY }) => {
  const scale = canvas.width / canvas.clientWidth;
  const masks = await segmenter.predict({ image: kept, points: [[offsetX * scale, offsetY * scale]] });
  const context = canvas.getContext('2d')!;
  context.clearRect(0, 0, canvas.width, canvas.height);
  // A point may show nothing.
  if (masks.length > 0) context.putImageData(paintInstances(masks), 0, 0);
});

addEventListener('pagehide', ({ persisted }) => persisted || kept.release());
