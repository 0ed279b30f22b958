import { audioChunks, load } from 'tabserve';

const vad = await load('/models/vad/', { handler: 'voice_activity_detector' });

// A recording: a file that the visitor picks.
document.querySelector('input')!.addEventListener('change', async ({ target }) => {
  const { segments } = await vad.predict((target as HTMLInputElement).files![0]!);
  for (const { start, end } of segments) console.log(`speech from ${start.toFixed(1)} s to ${end.toFixed(1)} s`);
});

// The microphone: a sequence of segments.
document.querySelector('button')!.addEventListener('click', async () => {
  const [track] = (await navigator.mediaDevices.getUserMedia({ audio: true })).getAudioTracks();
  const sequence = vad.openSequence();
  for await (const chunk of audioChunks(track!)) {
    const { events } = await sequence.predict(chunk, { params: { minSilenceDurationMs: 500 } });
    for (const { type, time } of events) console.log(`speech ${type}s at ${time.toFixed(1)} s`);
  }
  await sequence.end(); // the track has ended
});
