/**
 * Prints how long the tests of each project and file took, from Playwright's JSON report:
 * `node scripts/test-times.mjs REPORT.json`. Two run at a time, and what prepares them, such as `beforeAll`, is not
 * counted.
 */
import { readFileSync } from 'node:fs';

const { suites, stats } = JSON.parse(readFileSync(process.argv[2], 'utf8'));

/** Seconds by name. */
const [projects, files] = [new Map(), new Map()];
const add = (sums, name, seconds) => sums.set(name, (sums.get(name) ?? 0) + seconds);

function visit({ suites = [], specs = [] }) {
  suites.forEach(visit);
  for (const { file, tests } of specs)
    for (const { projectName, results } of tests) {
      const seconds = results.reduce((sum, { duration }) => sum + duration, 0) / 1000;
      add(projects, projectName, seconds);
      add(files, `${projectName} ${file}`, seconds);
    }
}
visit({ suites });

const print = (sums, least) => {
  for (const [name, seconds] of [...sums].sort(([, a], [, b]) => b - a))
    if (seconds >= least) console.log(`${seconds.toFixed(1).padStart(8)} s  ${name}`);
  console.log();
};
print(files, 5);
print(projects, 0);
console.log(`${(stats.duration / 60_000).toFixed(1)} minutes in all`);
