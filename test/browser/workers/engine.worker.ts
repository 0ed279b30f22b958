import { expose } from 'comlink';
import { allEngines } from '../../../src/worker/engines/index.ts';
import { lose } from '../../../demo/lab/gpu.ts';
import { createBare } from './bare-engine.ts';

expose(createBare({ engines: allEngines, base: location.origin, fetch: fetch.bind(globalThis), lose }));
