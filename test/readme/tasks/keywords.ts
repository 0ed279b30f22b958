import { audioChunks, load } from 'tabserve';

const spotter = await load('/models/wake/hey_jarvis_v0.1.onnx', {
  handler: 'keyword_spotter',
  config: { nodes: { melspectrogram: 'melspectrogram.onnx', embedding: 'embedding_model.onnx' } },
});

const [track] = (await navigator.mediaDevices.getUserMedia({ audio: true })).getAudioTracks();
const sequence = spotter.openSequence();
for await (const chunk of audioChunks(track!)) {
  const { detections } = await sequence.predict(chunk, { params: { threshold: 0.5, patience: 2 } });
  for (const { label, time, score } of detections) console.log(`${label} at ${time.toFixed(1)} s`, score);
}
