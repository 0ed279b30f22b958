import { connect, load } from 'tabserve';
import { start } from './start.js';

start({
  connect,
  load,
  makeWorker: () => new Worker('/odd-or-even.worker.js', { type: 'module' }),
  options: { assets: '/tabserve/' },
});
