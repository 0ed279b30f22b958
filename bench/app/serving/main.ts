/** The page's side of the section on serving. `bench/serving.mjs` calls it. */
import { measureBatching, measureInteractive } from './batching.ts';
import { measureLarge } from './large.ts';
import { measurePipeline } from './pipeline.ts';
import { measureLayers, measureSmall } from './small.ts';

const serving = { measureBatching, measureInteractive, measureLarge, measureLayers, measurePipeline, measureSmall };
export type Serving = typeof serving;

Object.assign(globalThis, { serving });
