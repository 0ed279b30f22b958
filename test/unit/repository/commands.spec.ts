/** The commands that run what is long: the specs that they name are there. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';

const ROOT = new URL('../../../', import.meta.url);
const SPECS = readdirSync(new URL('test/', ROOT), { recursive: true, encoding: 'utf8' }).filter((path) =>
  path.endsWith('.spec.ts'),
);

for (const command of ['chaos', 'fuzz', 'load', 'soak'])
  test(`npm run ${command} runs specs`, () => {
    const text = readFileSync(new URL(`scripts/${command}.mjs`, ROOT), 'utf8');
    const named = [...text.matchAll(/'([a-z]+\/[a-z-]+)'/g)].map(([, path]) => path!);
    expect(named.length).toBeGreaterThan(0);
    for (const path of named)
      expect(
        SPECS.filter((spec) => spec.includes(path)),
        path,
      ).not.toEqual([]);
  });
