import { load, nearest } from 'tabserve';

const clap = 'https://huggingface.co/Xenova/clap-htsat-unfused';
const listener = await load(clap, { handler: 'zero_shot_audio_classifier' });
const embedder = await load(clap, { handler: 'audio_text_embedder' });

const input = document.querySelector('input')!; // for several files
input.addEventListener('change', async () => {
  const files = [...input.files!];
  const params = { labels: ['a dog barking', 'rain', 'a violin'] };
  for (const { label, score } of await listener.predict(files[0]!, { params })) console.log(label, score);

  const vectors = await Promise.all(files.map((file) => embedder.predict(file)));
  const words = await embedder.predict('waves on a beach');
  for (const { index, score } of nearest(words, vectors, 3)) console.log(files[index]!.name, score);
});
