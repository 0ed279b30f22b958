import { connect } from 'tabserve';
import type { EagerClassifier } from './eager.worker.js';

const digits = connect<EagerClassifier>(
  () => new Worker(new URL('./eager.worker.ts', import.meta.url), { type: 'module' }),
  { model: '/models/digits/', backends: ['wasm'] },
);
await digits.initialize();
const photo = new URL('/models/digits/samples/drawn-3.png', location.href);

for await (const item of digits.stream(photo, { timeout: 10_000 })) {
  if ('best' in item) console.log(`probably a ${item.best}`);
  else console.log(item.map(({ label }) => label));
}
await digits.dispose();
