import { load, paintMask } from 'tabserve';

const button = document.querySelector('button')!;
const output = document.querySelector('output')!;
const video = document.querySelector('video')!;
const canvas = document.querySelector('canvas')!;

button.addEventListener('click', () => {
  button.disabled = true;
  run().catch((error: Error) => {
    output.textContent = error.message;
    button.disabled = false;
  });
});

async function run(): Promise<void> {
  video.srcObject = await navigator.mediaDevices.getUserMedia({ video: { width: 640, height: 480 } });
  await video.play();
  Object.assign(canvas, { width: video.videoWidth, height: video.videoHeight });
  const segmenter = await load('/models/selfie/', { handler: 'image_segmenter' });
  const drawing = canvas.getContext('2d')!;
  // A slow device skips frames and never falls behind. After a lost worker or GPU, the loop goes on.
  let frames = 0;
  let before = performance.now();
  for await (const { result, frame, dropped } of segmenter.frames(video)) {
    const person = await createImageBitmap(paintMask(result));
    drawing.globalCompositeOperation = 'copy';
    drawing.drawImage(frame!, 0, 0); // Not the video, which shows a later frame by now.
    drawing.globalCompositeOperation = 'destination-in';
    drawing.drawImage(person, 0, 0);
    person.close();
    const now = performance.now();
    output.textContent = `${segmenter.backend!.name}: ${Math.round(now - before)} ms, frame ${++frames}, ${dropped} skipped`;
    before = now;
  }
}
