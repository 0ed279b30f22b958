import { load } from 'tabserve';

const tracker = await load('/models/tracker/', { handler: 'object_tracker' });

const sequence = tracker.openSequence();
const camera = await navigator.mediaDevices.getUserMedia({ video: true });
for await (const { result } of sequence.frames(camera)) {
  for (const { id, label, box } of result) console.log(`${label} ${id} at ${Math.round(box.xmin)}`);
}
await sequence.end(); // the camera has ended
