import { FACE_CONNECTIONS, faceMeasures, load, paintLandmarks } from 'tabserve';

const faces = await load('/models/face/', { handler: 'face_landmarker' });
const photo = document.querySelector('img')!;
const found = await faces.predict(photo);
for (const face of found) console.log(face.box.xmin, face.box.ymin, faceMeasures(face).smile);
const canvas = document.querySelector('canvas')!;
[canvas.width, canvas.height] = [photo.naturalWidth, photo.naturalHeight];
paintLandmarks(canvas.getContext('2d')!, found, FACE_CONNECTIONS);
