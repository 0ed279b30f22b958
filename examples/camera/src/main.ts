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
  for (let frames = 1; ; frames++) {
    // The next frame is read when this one is drawn, so a slow device skips frames and never falls behind.
    const frame = await createImageBitmap(video);
    const started = performance.now();
    const mask = paintMask(await segmenter.predict(frame));
    const person = await createImageBitmap(mask);
    drawing.globalCompositeOperation = 'copy';
    drawing.drawImage(frame, 0, 0);
    drawing.globalCompositeOperation = 'destination-in';
    drawing.drawImage(person, 0, 0);
    frame.close();
    person.close();
    output.textContent = `${segmenter.backend!.name}: ${Math.round(performance.now() - started)} ms, frame ${frames}`;
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
}
