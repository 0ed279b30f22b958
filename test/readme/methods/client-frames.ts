import { load } from 'tabserve';

const digits = await load('/models/digits/', { handler: 'image_classifier' });
const video = document.querySelector('video')!;
for await (const { result, timestamp } of digits.frames(video, { fps: 5 })) {
  console.log(`${result[0]?.label} at ${Math.round(timestamp / 1000)} ms`);
  break;
}
