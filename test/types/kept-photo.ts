import { load, paintInstances } from 'tabserve';

const segmenter = await load('https://huggingface.co/ORG/NAME', { handler: 'promptable_segmenter' });
const canvas = document.querySelector('canvas')!;
const photo = await segmenter.keep(document.querySelector('img')!);

canvas.addEventListener('click', async ({ offsetX, offsetY }) => {
  const masks = await segmenter.predict({ image: photo, points: [[offsetX, offsetY]] });
  canvas.getContext('2d')!.putImageData(paintInstances(masks), 0, 0);
});

addEventListener('pagehide', () => photo.release());
