import { load, nearest, type Embedding } from 'tabserve';

const MODEL = 'https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2';
const texts = [
  'You can return an article within 30 days.',
  'We deliver to all countries of the EU.',
  'Your password is reset by a link in an e-mail.',
];
const model = await load(MODEL, { handler: 'text_feature_extractor', batchSize: 16 });

/** Returns the vectors of the texts: those of an earlier visit, or new ones. */
async function vectorsOf(): Promise<readonly Embedding[]> {
  // Another model, another version of it, or other texts have other vectors.
  const { modelVersion } = await model.describe();
  const about = new TextEncoder().encode(JSON.stringify([MODEL, modelVersion, texts]));
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', about));
  const key = `/vectors/${Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  const kept = await caches.open('vectors');
  const found = await kept.match(key);
  if (found) {
    const all = new Float32Array(await found.arrayBuffer());
    const size = all.length / texts.length;
    return texts.map((_, index) => all.slice(index * size, (index + 1) * size));
  }
  const rows = await model.handle(texts); // of thousands of texts, a few hundred at a time
  const vectors = rows.map((row) => {
    if (row instanceof Error) throw row;
    return row;
  });
  for (const old of await kept.keys()) await kept.delete(old);
  await kept.put(key, new Response(new Blob(vectors)));
  return vectors;
}

const vectors = await vectorsOf();
const query = await model.predict('How do I get a new password?');
for (const { index, score } of nearest(query, vectors, 2)) console.log(texts[index], score.toFixed(2));
