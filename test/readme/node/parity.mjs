import { readFile } from 'node:fs/promises';
import { connect, ThreadWorker } from 'tabserve/node';

const parity = connect(() => new ThreadWorker(new URL('./parity.worker.mjs', import.meta.url)), {
  model: './models/digits/',
});
await parity.initialize();
const photo = new Blob([await readFile('./models/digits/samples/digit-9.png')]);
console.log(await parity.predict(photo)); // odd
await parity.dispose();
