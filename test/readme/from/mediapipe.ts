import { load } from 'tabserve';

const faces = await load('/models/face/', {
  handler: 'face_landmarker',
  config: { handler: { maxDetections: 2 } },
});
const photo = document.querySelector('img')!;
for (const { landmarks } of await faces.predict(photo)) console.log(landmarks[1]!.x, landmarks[1]!.y);
