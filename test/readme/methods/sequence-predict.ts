import { load } from 'tabserve';

const detector = await load('/models/vad/', { handler: 'voice_activity_detector' });
const recording = detector.openSequence();
const half = { samples: new Float32Array(8_000), sampleRate: 16_000 };
await recording.predict(half);
const { events } = await recording.predict(half); // continues where the first half ended
console.log(events); // []: nobody speaks
