import { FaceLandmarker, FilesetResolver } from '@mediapipe/tasks-vision';

const files = await FilesetResolver.forVisionTasks('/mediapipe/wasm');
const faces = await FaceLandmarker.createFromOptions(files, {
  baseOptions: { modelAssetPath: '/models/face_landmarker.task' },
  numFaces: 2,
});
const photo = document.querySelector('img');
const { faceLandmarks } = faces.detect(photo);
for (const [, nose] of faceLandmarks) console.log(nose.x * photo.naturalWidth, nose.y * photo.naturalHeight);
