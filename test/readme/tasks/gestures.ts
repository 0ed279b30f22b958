import { faceMeasures, handGesture, headPose, load } from 'tabserve';

const photo = document.querySelector('img')!;
const hands = await load('/models/hand/', { handler: 'hand_landmarker' });
for (const hand of await hands.predict(photo)) console.log(hand.handedness, handGesture(hand)); // 'right', 'thumbUp'
const faces = await load('/models/face/', { handler: 'face_landmarker' });
for (const face of await faces.predict(photo)) {
  const { smile, eyeOpenLeft } = faceMeasures(face); // each in 0..1
  console.log(headPose(face).yaw, smile, eyeOpenLeft); // degrees to the person's left
}
