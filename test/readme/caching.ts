import { cache, load } from 'tabserve';

const classifier = await load('/models/digits/', { handler: 'image_classifier', cache: 'opfs' });
classifier.on('warn', ({ message }) => console.debug(message)); // e.g. that the disk is full

for (const { url, bytes, usedAt } of await cache.list()) console.log(url, bytes, usedAt);
const { files, bytes, quota } = await cache.estimate();
console.log(`${files} files, ${bytes} of ${quota} bytes`);
await cache.delete('/models/digits/'); // all files below it; cache.delete() deletes every file
