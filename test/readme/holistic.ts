import { FACE_CONNECTIONS, HAND_CONNECTIONS, load, paintLandmarks, POSE_CONNECTIONS } from 'tabserve';

const [faces, hands, bodies] = await Promise.all([
  load('/models/face/', { handler: 'face_landmarker' }),
  load('/models/hand/', { handler: 'hand_landmarker' }),
  load('/models/pose/', { handler: 'pose_landmarker' }),
]);
const camera = await navigator.mediaDevices.getUserMedia({ video: true });
const context = document.querySelector('canvas')!.getContext('2d')!;

// The slowest of them leads: its frames are those that the others get, too.
const [first, second, third] = [bodies.openSequence(), faces.openSequence(), hands.openSequence()];
for await (const { result: body, frame } of first.frames(camera)) {
  if (!frame) continue;
  const [face, hand] = await Promise.all([second.predict(frame), third.predict(frame)]);
  [context.canvas.width, context.canvas.height] = [frame.displayWidth, frame.displayHeight];
  context.drawImage(frame, 0, 0);
  paintLandmarks(context, body, POSE_CONNECTIONS);
  paintLandmarks(context, face, FACE_CONNECTIONS);
  paintLandmarks(context, hand, HAND_CONNECTIONS);
  console.log(body.length, face.length, hand.length, 'of one frame');
}
await Promise.all([first.end(), second.end(), third.end()]);
