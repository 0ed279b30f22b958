import { cosineSimilarity, load } from 'tabserve';

const embedder = await load('https://huggingface.co/onnx-community/wespeaker-voxceleb-resnet34-LM', {
  handler: 'speaker_embedder',
});

const input = document.querySelector('input')!; // for several files
input.addEventListener('change', async () => {
  const [known, heard] = input.files!;
  const similarity = cosineSimilarity(await embedder.predict(known!), await embedder.predict(heard!));
  console.log(similarity > 0.5 ? 'the same person' : 'somebody else', similarity);
});
