import { connect, load } from 'tabserve/standalone';
import { start } from './start.js';

// Parcel refuses a literal here, because it would bundle the script.
const SCRIPT = '/odd-or-even.worker.js';

start({
  connect,
  load,
  makeWorker: () => new Worker(SCRIPT, { type: 'module' }),
  options: { assets: '/tabserve/' },
});
