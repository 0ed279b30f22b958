/**
 * The gallery's service worker, as far as predictions go: Workbox's script imports it, and the dev server has nothing
 * else.
 */
import { answerPredictions } from '../../src/service-worker.js';
import { MODELS } from './models.js';

answerPredictions({ models: MODELS, base: './', serverTimeout: 3_000 });
