import { load, nearest } from 'tabserve';

const files = [...document.querySelector('input')!.files!];
const clap = 'https://huggingface.co/Xenova/clap-htsat-unfused';

const listener = await load(clap, { handler: 'zero_shot_audio_classifier' });
const params = { labels: ['a dog barking', 'rain', 'a violin'] };
for (const { label, score } of await listener.predict(files[0]!, { params })) console.log(label, score);

const embedder = await load(clap, { handler: 'audio_text_embedder' });
const vectors = await Promise.all(files.map((file) => embedder.predict(file)));
for (const { index, score } of nearest(await embedder.predict('waves on a beach'), vectors, 3))
  console.log(files[index]!.name, score);
