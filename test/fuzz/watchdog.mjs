/**
 * Ends the process if one case takes too long: a thread of its own can, while the main thread is busy. `clock` is
 * shared: the start in ms (0 between cases), the case's number, and the number of its kind.
 */
import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';

const { clock, kinds, limit } = workerData;
setInterval(() => {
  const started = Atomics.load(clock, 0);
  if (started === 0n || Date.now() - Number(started) < limit) return;
  writeSync(
    2,
    `\nA case hangs: ${kinds[Number(Atomics.load(clock, 2))]}:${Atomics.load(clock, 1)} took more than ${limit} ms.\n`,
  );
  process.kill(process.pid, 'SIGKILL');
}, 250);
