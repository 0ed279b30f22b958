import type { WebkitPage } from './driver.ts';
import { predictionServer } from '../browser/prediction-server.ts';
import { expect, test } from './fixtures.ts';

/** Runs a snippet of the docs. Returns what it logs, with objects as JSON, once that is `count` lines, or an error. */
function logged(page: WebkitPage, file: string, count: number): Promise<readonly string[]> {
  return page.evaluate(
    async ({ file, count }) => {
      const lines: string[] = [];
      const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
      const ended = new Promise<void>((resolve) => {
        const add = (line: string): void => void (lines.push(line) >= count && resolve());
        console.log = (...values: unknown[]) => add(values.map(text).join(' '));
        const fail = (error: unknown): void => {
          lines.push(String(error));
          resolve();
        };
        addEventListener('unhandledrejection', ({ reason }) => fail(reason));
        import(file).catch(fail);
      });
      await ended;
      return lines;
    },
    { file: `/test/readme/${file}`, count },
  );
}

for (const [file, expected] of [
  ['first.ts', [/^\{"label":"three","score":0\.9\d+\} on wasm$/]],
  ['even.ts', [/^odd$/, /^image-decode in preprocess$/]],
  ['text.ts', [/^\[\{"label":"German","score":0\.\d+\}\]$/]],
  ['healing.ts', [/^\[\{"label":"three","score":0\.9\d+/]],
  ['writing.ts', [/^true length 8$/]],
  ['shared.ts', [/four/, /^\{"role":"host","clients":1\}$/, /"outcome":"ok"/]],
  ['failures.ts', [/^false$/, /^image-decode in preprocess$/, /^aborted false$/]],
] as const)
  test(`snippet ${file}`, async ({ webkitPage }) => {
    await webkitPage.goto('/test/browser/pages/readme.html');
    const lines = await logged(webkitPage, file, expected.length);
    expect(lines).toEqual(expected.map((pattern) => expect.stringMatching(pattern)));
  });

test('snippets fetch.ts and fetch.sw.ts: a service worker answers with a model of the page', async ({
  webkitPage,
  baseURL,
}) => {
  await using site = await predictionServer(baseURL!);
  await webkitPage.goto(`${site.origin}/test/browser/pages/readme.html`);
  const lines = await logged(webkitPage, 'fetch.ts', 2);
  expect(lines).toEqual([expect.stringMatching(/^\{"three":0\.9\d+,/), 'device']);
  expect(site.got).toEqual([]);
});
