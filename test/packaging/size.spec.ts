import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import { bundled, sizes } from '../../scripts/size.mjs';

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

test('a classifier of images on ONNX Runtime needs the first script of the built-in worker alone', () => {
  for (const folder of ['built-in', 'standalone']) {
    const all = new Set(['worker.js']);
    for (const file of all)
      for (const [, name] of read(`${folder}/${file}`).matchAll(/\b(?:from|import)"\.\/([\w.-]+)"/g)) all.add(name!);
    // Its entry, what is in it, and the bundler's helpers.
    expect(all.size, Array.from(all).join()).toBeLessThanOrEqual(3);
    const code = Array.from(all, (file) => read(`${folder}/${file}`)).join('\n');
    // Keys of its config, and of the engine's.
    for (const key of ['topK', 'graphOptimizationLevel']) expect(code).toContain(`${key}:{`);
    for (const needed of ['InferenceSession.create', 'imageProcessing']) expect(code).toContain(needed);
  }
});

test('no file names a source map: the package has none, and a bundler would warn of each', () => {
  expect(files.filter((file) => file.endsWith('.map'))).toEqual([]);
  const scripts = files.filter((file) => file.endsWith('.js'));
  expect(scripts.length).toBeGreaterThan(200);
  expect(scripts.filter((file) => read(file).includes('//# sourceMappingURL='))).toEqual([]);
});

test('the panel for development is in the scripts of an app that imports it, and in no other', async () => {
  /** Text of the panel's element, of its style, and of its timeline. */
  const marks = ['tabserve-devtools', '--postprocess', 'Lost because'];
  const codeOf = async (app: string): Promise<string> => (await bundled(app, 'es')).map(({ code }) => code).join('\n');
  const entries = ['index', 'core', 'pipeline', 'serving', 'react', 'vue', 'svelte'];
  const all = entries.map((entry) => `export * as ${entry} from '${dist}${entry}.js';`).join('\n');
  const without = await codeOf(all);
  for (const mark of marks) expect(without, mark).not.toContain(mark);
  // An import for its element alone is no import that a bundler may leave out.
  const withPanel = await codeOf(`import '${dist}devtools.js';`);
  for (const mark of marks) expect(withPanel, mark).toContain(mark);
});
