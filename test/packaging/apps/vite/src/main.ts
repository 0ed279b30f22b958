import { connect, load } from 'tabserve';
import { start } from './start.js';

start({
  connect,
  load,
  makeWorker: () => new Worker(new URL('./odd-or-even.worker.ts', import.meta.url), { type: 'module' }),
});
