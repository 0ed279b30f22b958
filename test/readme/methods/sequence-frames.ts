import { load } from 'tabserve';

const tracker = await load('/models/tracker/', { handler: 'object_tracker' });
const sequence = tracker.openSequence();
for await (const { result } of sequence.frames(document.querySelector('video')!)) {
  if (result.length === 0) continue;
  console.log(result.map(({ id, label }) => `${label} ${id}`)); // ['cat 1']
  break;
}
