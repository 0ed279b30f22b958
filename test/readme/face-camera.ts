import { FACE_CONNECTIONS, load, paintLandmarks } from 'tabserve';

const faces = await load('/models/face/', { handler: 'face_landmarker' });
const camera = await navigator.mediaDevices.getUserMedia({ video: true });
const context = document.querySelector('canvas')!.getContext('2d')!;

const sequence = faces.openSequence();
for await (const { result, frame } of sequence.frames(camera)) {
  if (frame) {
    [context.canvas.width, context.canvas.height] = [frame.displayWidth, frame.displayHeight];
    context.drawImage(frame, 0, 0);
  }
  paintLandmarks(context, result, FACE_CONNECTIONS);
}
await sequence.end();
