import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { TabServeError } from '../../../src/contract/errors.ts';
import { loadScript } from '../../../src/shared/load-script.ts';

test('a script that is missing, or of another version, is worker-failed with the remedy', async () => {
  for (const [script, why] of [
    [() => Promise.reject(new TypeError('Failed to fetch.')), 'Failed to fetch'],
    [async () => undefined, 'it is of another version'],
    // What the bundler made of a namespace that a script of another version does not have.
    [async () => (undefined as unknown as { readonly decode: unknown }).decode, 'Cannot read properties of undefined'],
  ] as const)
    await expect(loadScript<unknown>(script)).rejects.toMatchObject({
      code: 'worker-failed',
      message: expect.stringMatching(
        new RegExp(
          `^A script of TabServe could not be loaded: ${why}.*\\. If the app was deployed anew since this page was loaded, reload the page\\.$`,
        ),
      ),
    });
  const known = new TabServeError('worker-failed', 'The file yaml.js could not be loaded.');
  await expect(loadScript(() => Promise.reject(known))).rejects.toBe(known);
  expect(await loadScript(async () => 7)).toBe(7);
});

test('every script that is loaded when it is needed is loaded by loadScript', () => {
  /** Where a missing script is reported by the caller, is no failure, or has a message of its own; the lists of tasks. */
  const others =
    /^(worker\/(libraries\/|handlers\/load-gpu-images\.|tasks\/(\w|-)+\/index\.|tasks\/index\.|default\.worker\.|engines\/(\w+-node|\w+\/node|onnx\/thread-script)\.)|shared\/load-script\.)/;
  const src = new URL('../../../src/', import.meta.url);
  const files = ['page', 'worker', 'shared'].flatMap((room) =>
    readdirSync(new URL(room, src), { recursive: true, encoding: 'utf8' }).map((file) => `${room}/${file}`),
  );
  const lazy = files.flatMap((file) => {
    if (!file.endsWith('.ts') || others.test(file)) return [];
    const code = readFileSync(new URL(file, src), 'utf8').replaceAll(/\/\*[^]*?\*\/|\/\/.*|typeof import\(/g, '');
    const [imports, loads] = [/\bimport\(/, /\bloadScript\b/].map((one) => one.test(code)) as [boolean, boolean];
    return imports ? [{ file, loads }] : [];
  });
  expect(lazy.length).toBeGreaterThan(20);
  expect(lazy.filter(({ loads }) => !loads)).toEqual([]);
});
