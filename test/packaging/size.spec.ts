import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import { sizes } from '../../scripts/size.mjs';

const dist = fileURLToPath(new URL('../../dist/', import.meta.url));
const files = readdirSync(dist, { recursive: true, encoding: 'utf8' });
const read = (file: string): string => readFileSync(join(dist, file), 'utf8');

test('what a visitor downloads is below its limits: `npm run size` prints them', async () => {
  const above = (await sizes()).filter(({ size, limit }) => size > limit);
  expect(above).toEqual([]);
});

test('bundles have no license comments; NOTICE.txt has the licenses of what is in them', () => {
  for (const file of files.filter((name) => /^(standalone|built-in)\/.*\.js$/.test(name)))
    expect(read(file), file).not.toMatch(/@license|\/\*!|licensed under/i);
  const notice = read('standalone/NOTICE.txt');
  const { dependencies } = JSON.parse(readFileSync(join(dist, '../package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  for (const [name, version] of Object.entries(dependencies)) expect(notice).toContain(`\n\n${name} ${version} (`);
  expect(notice).toContain('Permission is hereby granted');
  expect(notice).toContain('Apache License');
});

test('the built-in worker makes few requests for scripts: two before a model, and three more for a classifier of images', () => {
  for (const folder of ['built-in', 'standalone']) {
    const importsOf = (file: string): string[] =>
      Array.from(read(`${folder}/${file}`).matchAll(/\b(?:from|import)"\.\/([\w.-]+)"/g), ([, name]) => name!);
    const all = new Set<string>();
    const visit = (file: string): void => {
      if (all.has(file)) return;
      all.add(file);
      importsOf(file).forEach(visit);
    };
    visit('worker.js');
    // The workers of the folder share scripts.
    const isStandalone = folder === 'standalone';
    expect(all.size, Array.from(all).join()).toBeLessThanOrEqual(isStandalone ? 5 : 2);
    const chunk = (name: RegExp, holds: RegExp): string =>
      files
        .filter((file) => file.startsWith(`${folder}/`) && name.test(file))
        .map((file) => file.slice(folder.length + 1))
        .find((file) => holds.test(read(`${folder}/${file}`)))!;
    visit(chunk(/\/images-[\w-]+\.js$/, /topK/));
    visit(chunk(/\/engine-[\w-]+\.js$/, /graphOptimizationLevel/));
    const small = Array.from(all).filter((file) => file.startsWith('rolldown-runtime-'));
    // What remains: the first two, the model's, the images', the engine's.
    expect(all.size - small.length, Array.from(all).join()).toBeLessThanOrEqual(isStandalone ? 7 : 5);
  }
});

test('each source map is there and has the sources', () => {
  const named = files.flatMap((file) => {
    const [, map] = (file.endsWith('.js') && /\n\/\/# sourceMappingURL=(\S+)\s*$/.exec(read(file))) || [];
    return map === undefined ? [] : [join(dirname(file), map)];
  });
  expect(named.length).toBeGreaterThan(200);
  for (const map of named) {
    expect(existsSync(join(dist, map)), map).toBe(true);
    const { sources, sourcesContent } = JSON.parse(read(map)) as { sources: string[]; sourcesContent?: unknown[] };
    expect(sourcesContent?.filter((text) => typeof text === 'string').length, map).toBe(sources.length);
  }
  expect(files.filter((file) => file.endsWith('.map')).length).toBe(named.length);
});
