import { connect, load } from 'tabserve';
import { start } from './start.js';

start({
  connect,
  load,
  makeWorker: () => new Worker(new URL('./odd-or-even.worker.js', import.meta.url), { type: 'module' }),
});
