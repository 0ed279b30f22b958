import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { LIBRARIES } from '../../../../scripts/build/libraries.mjs';

const folder = new URL('../../../../src/worker/libraries/', import.meta.url);
const names = readdirSync(folder)
  .map((file) => file.replace('.ts', ''))
  .filter((name) => name !== 'load');

test('the build makes a file of every library', () => {
  expect(Object.keys(LIBRARIES).sort()).toEqual(names.sort());
});

for (const name of names) {
  test(`${name}.js exports what src/worker/libraries/${name}.ts promises`, () => {
    const source = readFileSync(new URL(`${name}.ts`, folder), 'utf8');
    const promised = /Pick<[^>]*?,([^>]*)>/.exec(source)?.[1]?.match(/(?<=')\w+(?=')/g) ?? [];
    const { entry } = LIBRARIES[name]!;
    if (!entry.startsWith('export *')) {
      const exported =
        /^export \{([^}]*)\}/
          .exec(entry)?.[1]
          ?.split(',')
          .map((one) => one.trim()) ?? [];
      expect(exported.sort()).toEqual([...promised].sort());
    }
  });
}
