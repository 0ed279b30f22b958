/** Exposes the modules under test as `window.images`; with `?worker`, those of the worker in a module worker. */
import { prepare } from '../../../src/page/requests/inputs.js';
import { decodeImage } from '../../../src/worker/images/decode.js';

Object.assign(window, { images: { decodeImage, prepare } });
if (location.search === '?worker') {
  Object.assign(window, { worker: new Worker(new URL('./images.worker.ts', import.meta.url), { type: 'module' }) });
}
