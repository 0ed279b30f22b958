/**
 * Runs `tabserve` in this process, whose parent asks for its memory: for every message it collects garbage, and answers
 * with `process.memoryUsage()`. Garbage of the worker threads is V8's own affair.
 *
 *     fork('server-in-process.mjs', ['serve', '--port', '0', 'models/digits'])
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

process.on('message', () => {
  // What a finalizer releases is collected by the next round.
  for (let round = 0; round < 3; round++) collectGarbage();
  process.send(process.memoryUsage());
});

await import(new URL('../../../dist/tools/cli/main.js', import.meta.url));
