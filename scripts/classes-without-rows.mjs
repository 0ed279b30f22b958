/**
 * `node scripts/classes-without-rows.mjs [HANDLER]`: the classes that a handler accepts and that no test
 * compares with Python; why, if `architectures/without-rows.json` says that no row can be made.
 */
import { readFileSync } from 'node:fs';
import { comparedClasses } from './task-lists.mjs';

const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
const [, , chosen] = process.argv;

const compared = new Set(comparedClasses());
const reasons = new Map(
  read('architectures/without-rows.json').flatMap(({ why, classes }) => classes.map((name) => [name, why])),
);
for (const { handler, classes } of read('architectures/classes.json').groups) {
  if (handler === null || (chosen !== undefined && handler !== chosen)) continue;
  const missing = classes.filter((name) => !compared.has(name));
  console.log(`${handler}: ${classes.length - missing.length} of ${classes.length} compared`);
  const unmade = missing.filter((name) => !reasons.has(name));
  if (unmade.length > 0) console.log(`  without a row: ${unmade.join(' ')}`);
  for (const why of new Set(missing.flatMap((name) => reasons.get(name) ?? [])))
    console.log(`  ${why} ${missing.filter((name) => reasons.get(name) === why).join(' ')}`);
}
const needless = [...reasons.keys()].filter((name) => compared.has(name));
if (needless.length > 0) console.log(`Remove from architectures/without-rows.json: ${needless.join(' ')}`);
