/**
 * `node scripts/classes-without-rows.mjs [HANDLER]`: the classes that a handler accepts and that no test
 * compares with Python.
 */
import { readFileSync } from 'node:fs';
import { comparedClasses } from './task-lists.mjs';

const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
const [, , chosen] = process.argv;

const compared = new Set(comparedClasses());
for (const { handler, classes } of read('architectures/classes.json').groups) {
  if (handler === null || (chosen !== undefined && handler !== chosen)) continue;
  const missing = classes.filter((name) => !compared.has(name));
  console.log(`${handler}: ${classes.length - missing.length} of ${classes.length} compared`);
  if (missing.length > 0) console.log(`  without a row: ${missing.join(' ')}`);
}
