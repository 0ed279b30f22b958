import { load } from 'tabserve';

const file = document.querySelector('input')!.files![0]!;

const listener = await load('https://huggingface.co/Xenova/ast-finetuned-audioset-10-10-0.4593', {
  handler: 'audio_classifier',
});
for (const { label, score } of await listener.predict(file, { params: { topK: 3 } })) console.log(label, score);
