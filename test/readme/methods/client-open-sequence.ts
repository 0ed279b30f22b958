import { load } from 'tabserve';

const detector = await load('/models/vad/', { handler: 'voice_activity_detector' });
const recording = detector.openSequence({ idleTimeout: 60_000 });
const silence = { samples: new Float32Array(16_000), sampleRate: 16_000 };
for (let second = 0; second < 2; second++) {
  const { events } = await recording.predict(silence);
  console.log(events.length); // 0
}
await recording.end();
