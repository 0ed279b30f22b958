import { connect } from 'tabserve';
import type { SteadyClassifier } from './steady.worker.js';

const steady = connect<SteadyClassifier>(
  () => new Worker(new URL('./steady.worker.ts', import.meta.url), { type: 'module' }),
  { model: '/models/digits/' },
);
await steady.initialize();

const camera = document.querySelector('video')!;
const sequence = steady.openSequence({ idleTimeout: 60_000 });
while (!camera.ended) {
  const [best] = await sequence.predict(camera);
  console.log(best?.label);
}
await sequence.end();
