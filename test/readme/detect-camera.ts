import { load } from 'tabserve';

const video = document.querySelector('video')!;
const canvas = document.querySelector('canvas')!;
const drawing = canvas.getContext('2d')!;
const stop = new AbortController();
document.querySelector('button')!.addEventListener('click', () => stop.abort());

const detector = await load('/models/nanodet/', { handler: 'object_detector', signal: stop.signal });
const camera = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } });
video.srcObject = camera;
await video.play();
try {
  const options = { signal: stop.signal, params: { scoreThreshold: 0.5 } };
  for await (const { result, frame } of detector.frames(video, options)) {
    canvas.width = video.videoWidth;
    canvas.height = video.videoHeight;
    // The video shows a later picture by now: draw the frame that the boxes are of.
    drawing.drawImage(frame ?? video, 0, 0);
    drawing.lineWidth = 3;
    drawing.strokeStyle = drawing.fillStyle = '#f60';
    for (const { label, score, box } of result) {
      drawing.strokeRect(box.xmin, box.ymin, box.xmax - box.xmin, box.ymax - box.ymin);
      drawing.fillText(`${label} ${score.toFixed(2)}`, box.xmin, box.ymin - 4);
    }
    console.log(result.map(({ label }) => label).join());
  }
} catch (error) {
  if (!stop.signal.aborted) throw error; // Stop ends the loop with "aborted"
} finally {
  for (const track of camera.getTracks()) track.stop(); // the camera's light goes out
  await detector.dispose(); // ends the worker, and frees the model's memory
  console.log('stopped');
}
