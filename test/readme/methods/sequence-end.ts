import { load } from 'tabserve';

const detector = await load('/models/vad/', { handler: 'voice_activity_detector' });
const recording = detector.openSequence();
recording.ended.addEventListener('abort', () => console.log('ended'));
await recording.end();
