/** The page's side of the section on serving. `bench/serving.mjs` calls it. */
import { measureBatching, measureInteractive } from './batching.ts';
import { measureLarge } from './large.ts';
import { measureLayers } from './layers.ts';
import { measurePipeline } from './pipeline.ts';

const serving = { measureBatching, measureInteractive, measureLarge, measureLayers, measurePipeline };
export type Serving = typeof serving;

Object.assign(globalThis, { serving });
