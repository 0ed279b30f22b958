import { connect } from 'tabserve';
import type { Sorter } from './sorter.worker.js';

const sorter = connect<Sorter>(() => new Worker(new URL('./sorter.worker.ts', import.meta.url), { type: 'module' }), {
  model: '/models/sorter/',
});
sorter.on('response', ({ nodes }) => console.debug(nodes!['kind']!.inference, nodes!['language']?.inference)); // milliseconds
await sorter.initialize({ onProgress: ({ overall }) => console.debug(overall.fraction) }); // one download, of both models
const german = new TextEncoder().encode('Alle Menschen sind frei und gleich an Würde und Rechten geboren.');
for (const row of await sorter.handle([german, new Uint8Array(1000)]))
  console.log(row instanceof Error ? `${row.node}: ${row.message}` : row); // { kind: 'text', language: 'German' }, { kind: 'sparse' }
await sorter.dispose();
