import { audioChunks, load } from 'tabserve';

const writer = await load('https://huggingface.co/onnx-community/whisper-tiny.en', { handler: 'speech_to_text' });
const [done, maybe] = document.querySelectorAll('span');

document.querySelector('button')!.addEventListener('click', async () => {
  const [track] = (await navigator.mediaDevices.getUserMedia({ audio: true })).getAudioTracks();
  const sequence = writer.openSequence();
  for await (const chunk of audioChunks(track!)) {
    const { final, interim } = await sequence.predict(chunk, { params: { noSpeechThreshold: 0.6 } });
    done!.append(final.text);
    maybe!.textContent = interim.text;
  }
  await sequence.end(); // the track has ended
});
