import { connect } from 'tabserve';
import type { EvenOrOdd } from './even.worker.js';

const parity = connect<EvenOrOdd>(() => new Worker(new URL('./even.worker.ts', import.meta.url), { type: 'module' }), {
  model: '/models/digits/',
});
await parity.initialize({ onProgress: ({ file, loaded, total }) => console.debug(file, loaded, total) });
const photo = document.querySelector('img')!;
const rows = await parity.handle([photo, new Blob(['no image'])]); // list in, list out: ('even' | 'odd' | PredictionError)[]
for (const row of rows) console.log(row instanceof Error ? `${row.code} in ${row.stage}` : row);
await parity.dispose();
