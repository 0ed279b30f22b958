import { connect, type Detections } from 'tabserve';
import { draw } from './draw.ts';
import { options } from './model.ts';
import { open, say } from './status.ts';

const button = document.querySelector<HTMLButtonElement>('.camera')!;
const input = document.querySelector('input')!;
const video = document.querySelector('video')!;
const canvas = document.querySelector('canvas')!;
const found = document.querySelector('.found')!;

const detector = connect(options);
let running: AbortController | undefined;

/** Shows the objects of each frame until `stop` aborts. A slow device skips frames, and does not fall behind. */
async function run(stop: AbortController): Promise<void> {
  const camera = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } });
  try {
    video.srcObject = camera;
    await video.play();
    // The canvas takes the camera's shape; the boxes are in pixels of the frame.
    Object.assign(canvas, { width: video.videoWidth, height: video.videoHeight });
    for await (const { result, frame } of detector.frames(video, { signal: stop.signal })) show(frame ?? video, result);
  } finally {
    for (const track of camera.getTracks()) track.stop(); // the camera's light goes out
  }
}

async function detect(photo: Blob): Promise<void> {
  const [picture, objects] = await Promise.all([createImageBitmap(photo), detector.predict(photo)]);
  Object.assign(canvas, { width: picture.width, height: picture.height });
  show(picture, objects);
}

function show(picture: CanvasImageSource, objects: Detections): void {
  draw(canvas, picture, objects);
  found.textContent = objects.map(({ label }) => label).join(', ') || 'Nothing that this model knows.';
}

button.addEventListener('click', async () => {
  if (running) return running.abort();
  const stop = (running = new AbortController());
  button.textContent = 'Stop the camera';
  try {
    await run(stop);
  } catch (error) {
    if (!stop.signal.aborted) say(error as Error);
  } finally {
    running = undefined;
    button.textContent = 'Start the camera';
  }
});
input.addEventListener('change', () => {
  running?.abort();
  if (input.files?.[0]) detect(input.files[0]).catch(say);
});
open(detector);
