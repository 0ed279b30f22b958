/**
 * `node scripts/classes-without-rows.mjs [HANDLER]`: the classes that a handler accepts and that no row of
 * `test/models/tasks` has compared with Python.
 */
import { readdirSync, readFileSync } from 'node:fs';

const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
const TASKS = '../test/models/tasks/';
const [, , chosen] = process.argv;

const compared = new Set(
  readdirSync(new URL(TASKS, import.meta.url))
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => read(TASKS + name).rows.map(({ architecture }) => architecture)),
);
for (const { handler, classes } of read('architectures/classes.json').groups) {
  if (handler === null || (chosen !== undefined && handler !== chosen)) continue;
  const missing = classes.filter((name) => !compared.has(name));
  console.log(`${handler}: ${classes.length - missing.length} of ${classes.length} compared`);
  if (missing.length > 0) console.log(`  without a row: ${missing.join(' ')}`);
}
