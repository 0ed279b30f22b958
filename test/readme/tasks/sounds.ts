import { load } from 'tabserve';

const listener = await load('https://huggingface.co/Xenova/ast-finetuned-audioset-10-10-0.4593', {
  handler: 'audio_classifier',
});

const input = document.querySelector('input')!;
input.addEventListener('change', async () => {
  const found = await listener.predict(input.files![0]!, { params: { topK: 3 } });
  for (const { label, score } of found) console.log(label, score);
});
