import { connect } from 'tabserve';
import { backends } from './backends.ts';
import type { DigitReader } from './digit-reader.worker.ts';

/** The handler, in its worker. Inputs and answers have the types of the class. */
export const reader = connect<DigitReader>(
  () => new Worker(new URL('./digit-reader.worker.ts', import.meta.url), { type: 'module' }),
  { model: '/models/digits/', ...backends },
);

/** Pictures to begin with. */
export const SAMPLES = ['drawn-3', 'drawn-7', 'paper-2'].map((name) => `/models/digits/samples/${name}.png`);
