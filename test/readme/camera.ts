import { load } from 'tabserve';

const digits = await load('/models/digits/', { handler: 'image_classifier', backends: ['wasm'] });
const camera = await navigator.mediaDevices.getUserMedia({ video: true });

for await (const { result, dropped } of digits.frames(camera, { fps: 10 })) {
  const { label, score } = result[0]!;
  console.log(`${label}, ${dropped} frames dropped`);
  if (score > 0.9) break;
}
for (const track of camera.getTracks()) track.stop();
await digits.dispose();
