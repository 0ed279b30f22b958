import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from '@playwright/test';
import { importFile } from '../../../../src/worker/libraries/load.ts';

test.describe('a library file', () => {
  let folder: URL;
  test.beforeAll(() => {
    folder = pathToFileURL(`${mkdtempSync(join(tmpdir(), 'tabserve-library-'))}/`);
    writeFileSync(new URL('one.mjs', folder), 'export const answer = 1;');
  });
  test.afterAll(() => rmSync(folder, { recursive: true }));

  test('is imported from where the bundler has placed it, even if the app names a folder', async () => {
    expect(await importFile('two.mjs', new URL('one.mjs', folder), 'answer', 'http://127.0.0.1:9/')).toMatchObject({
      answer: 1,
    });
  });

  test("is imported from the app's folder if the bundler has not placed it", async () => {
    expect(await importFile('one.mjs', new URL('lost.mjs', folder), 'answer', folder.href)).toMatchObject({
      answer: 1,
    });
  });

  test('that is nowhere is an error that names its URL and the remedy', async () => {
    const failure = importFile('lost.mjs', new URL('placed.mjs', folder), 'answer', new URL('engines/', folder).href);
    await expect(failure).rejects.toMatchObject({
      code: 'worker-failed',
      message: expect.stringMatching(
        /engines\/lost\.mjs could not be loaded: .*If the app was deployed anew .*, reload the page\. Otherwise publish the whole build, or copy .*npx tabserve copy.*option "assets": docs\/hosting\.md/,
      ),
    });
  });

  test('of another version, without the export that is needed, is an error, too', async () => {
    await expect(importFile('one.mjs', new URL('one.mjs', folder), 'question')).rejects.toMatchObject({
      code: 'worker-failed',
      message: expect.stringMatching(/one\.mjs could not be loaded: it is of another version\. .*reload the page/),
    });
  });
});
