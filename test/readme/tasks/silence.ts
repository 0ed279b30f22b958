import { load } from 'tabserve';

const writer = await load('https://huggingface.co/onnx-community/whisper-tiny', { handler: 'speech_to_text' });

const input = document.querySelector('input')!;
input.addEventListener('change', async () => {
  const params = { timestamps: 'segment', noSpeechThreshold: 0.6, temperatures: [0, 0.4, 0.8], seed: 1 } as const;
  const { parts = [] } = await writer.predict(input.files![0]!, {
    params: { ...params, compressionRatioThreshold: 2.4 },
  });
  for (const { text, noSpeechProb, compressionRatio } of parts) console.log(text, noSpeechProb, compressionRatio);
});
