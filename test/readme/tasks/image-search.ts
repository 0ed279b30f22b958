import { load, nearest } from 'tabserve';

const embedder = await load('https://huggingface.co/Xenova/mobileclip_s0', { handler: 'image_text_embedder' });
const photos = await Promise.all(Array.from(document.images, (photo) => embedder.predict(photo)));
const query = await embedder.predict('a number, written by hand');
for (const { index, score } of nearest(query, photos, 3)) console.log(document.images[index]!.src, score);
