import { load } from 'tabserve';

const faces = await load('/models/face/', { handler: 'face_landmarker' });
const photo = document.querySelector('img')!;
for (const { score, box, landmarks } of await faces.predict(photo)) console.log(score, box, landmarks[1]);
