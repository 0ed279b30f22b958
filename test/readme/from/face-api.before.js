import * as faceapi from 'face-api.js';

await faceapi.nets.tinyFaceDetector.loadFromUri('/weights');
await faceapi.nets.faceLandmark68Net.loadFromUri('/weights');
await faceapi.nets.faceExpressionNet.loadFromUri('/weights');
const photo = document.querySelector('img');
const found = await faceapi
  .detectAllFaces(photo, new faceapi.TinyFaceDetectorOptions())
  .withFaceLandmarks()
  .withFaceExpressions();
for (const { detection, expressions } of found) console.log(detection.box.x, detection.box.y, expressions.happy);
const canvas = document.querySelector('canvas');
faceapi.matchDimensions(canvas, { width: photo.naturalWidth, height: photo.naturalHeight });
faceapi.draw.drawFaceLandmarks(canvas, found);
