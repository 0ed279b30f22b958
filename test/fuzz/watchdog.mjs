/**
 * Ends the process if one case takes too long: a thread of its own can, while the main thread is busy. It counts the
 * process's own time, because other processes make a machine slow, and the time of the clock for a case that waits for
 * ever. `clock` is shared: the start in ms (0 between cases), the case's number, the number of its kind, and the
 * process's time at the start in µs.
 */
import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';

const { clock, kinds, limit } = workerData;
setInterval(() => {
  const started = Atomics.load(clock, 0);
  const { user, system } = process.cpuUsage();
  const worked = (user + system - Number(Atomics.load(clock, 3))) / 1000;
  if (started === 0n || (worked < limit && Date.now() - Number(started) < 6 * limit)) return;
  writeSync(
    2,
    `\nA case hangs: ${kinds[Number(Atomics.load(clock, 2))]}:${Atomics.load(clock, 1)} took more than ${limit} ms.\n`,
  );
  process.kill(process.pid, 'SIGKILL');
}, 250);
