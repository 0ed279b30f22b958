import { connect } from 'tabserve';
import type { PersonFinder } from './person.worker.js';

const finder = connect<PersonFinder>(
  () => new Worker(new URL('./person.worker.ts', import.meta.url), { type: 'module' }),
  { model: '/models/selfie/model.onnx' },
);
await finder.initialize();
const photo = document.querySelector('img')!;
const { x, y } = await finder.predict(photo);
console.log(x.toFixed(0), y.toFixed(0)); // of a photo of 512 × 512: 227 290
