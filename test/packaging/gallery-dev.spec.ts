import { expect, test, type Page } from '@playwright/test';
import { createServer, type ViteDevServer } from 'vite';
import { chromiumArgs, chromiumPath } from '../../scripts/chromium.ts';

/** Compiling in the dev server, loading, and the first run. */
const SLOW = { timeout: 60_000 };

const headline = (page: Page, text: string | RegExp): Promise<void> =>
  expect(page.locator('.top-name')).toHaveText(text, SLOW);
const opens = (repository: string, handler: string) => async (page: Page) => {
  await page.locator('input[webkitdirectory]').setInputFiles(`test/models/tasks/${repository}`);
  await page.getByRole('button', { name: 'Open it' }).click(SLOW);
  await expect(page.getByRole('status').filter({ hasText: `${handler} runs on` })).toBeVisible(SLOW);
  await expect(page.locator('#note')).toHaveText(/^Answered in [\d.,]+ ms\.$/, SLOW);
};

/** What a visitor does on each page first, in the order of the navigation. */
const USES: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  Objects: async (page) =>
    await expect(page.getByRole('list', { name: 'Objects' }).getByRole('listitem').first()).toContainText(
      'person',
      SLOW,
    ),
  Background: async (page) => await headline(page, 'Person'),
  People: async (page) =>
    await expect(page.getByRole('list', { name: 'Found' }).getByRole('listitem').first()).toContainText('points', SLOW),
  'Cut-out': async (page) => await expect(page.locator('.top-share')).toHaveText(/% is left$/, SLOW),
  Likeness: async (page) =>
    await expect(
      page
        .getByRole('list', { name: /^Pictures/ })
        .getByRole('button')
        .filter({ hasText: /0\.\d\d/ }),
    ).toHaveCount(12, SLOW),
  Upscaling: async (page) => await headline(page, '256 × 256 → 512 × 512'),
  Text: async (page) => await headline(page, '2 lines'),
  Language: async (page) => await headline(page, 'Portuguese'),
  async Digits(page) {
    await page.getByRole('button', { name: 'eight, from MNIST' }).click();
    await headline(page, 'eight');
  },
  Orientation: async (page) => await headline(page, /upside down/),
  async Speech(page) {
    await expect(page.locator('.top-share')).toHaveText('8.1 s of 13.9 s', SLOW);
    await page.locator('input[webkitdirectory]').setInputFiles('test/models/tasks/write-whisper-words');
    await page.getByRole('button', { name: 'Open it' }).click(SLOW);
    await expect(page.getByRole('list', { name: 'Models in use' })).toContainText('transcribes', SLOW);
  },
  async Voices(page) {
    await page.locator('input[webkitdirectory]').setInputFiles('test/models/tasks/speak-speecht5');
    await page.getByRole('button', { name: 'Open it' }).click(SLOW);
    await expect(page.getByText('text_to_speech) runs on')).toBeVisible(SLOW);
    await page.getByRole('textbox', { name: 'The text' }).fill('hello there. how are you?');
    await page.getByRole('button', { name: 'Speak' }).click();
    await expect(page.getByText(/^You heard the first sentence after [\d.]+ s, all of it after/)).toBeVisible(SLOW);
  },
  async Chat(page) {
    await page.getByText('Tokens', { exact: true }).click();
    await page.getByRole('slider', { name: 'Length' }).fill('20');
    await page.getByRole('textbox', { name: 'Your message' }).fill('Once upon a time');
    await page.getByRole('button', { name: 'Send', exact: true }).click(SLOW);
    await expect(page.getByText(/^20 tokens,/)).toBeVisible(SLOW);
  },
  async Writing(page) {
    await page.getByRole('slider', { name: 'Length' }).fill('20');
    await page.getByRole('button', { name: 'Write', exact: true }).click(SLOW);
    await expect(page.getByText(/^20 tokens,/)).toBeVisible(SLOW);
  },
  async Reasons(page) {
    await page.getByRole('radio', { name: 'A digit' }).check();
    await headline(page, /^\w+$/);
  },
  async Backends(page) {
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await expect(page.locator('[data-candidate="onnx/wasm"]')).toContainText(/\d ms/, { timeout: 120_000 });
  },
  async 'Any model'(page) {
    await opens('depth-anything', 'depth_estimator')(page);
    await opens('prompt-sam', 'promptable_segmenter')(page);
    await opens('embed-clip', 'image_text_embedder')(page);
    await opens('tokens-bert', 'token_classifier')(page);
    await opens('answer-bert', 'question_answerer')(page);
  },
  Serving: async (page) => await expect(page.locator('.verdict')).toContainText('All requests are answered', SLOW),
  Fetch: async (page) => await expect(page.locator('[data-who="here"] dd')).not.toHaveText('0', SLOW),
  Docs: async (page) => await expect(page.getByRole('heading', { level: 1 })).toHaveText('TabServe'),
};

test.use({
  launchOptions: { args: [...chromiumArgs.wasm], ...(chromiumPath && { executablePath: chromiumPath }) },
});

test('npm start: every page of the gallery does on the dev server what it is for @full', async ({ page }, info) => {
  test.setTimeout(600_000);
  const vite = await createServer({
    configFile: 'vite.config.ts',
    cacheDir: info.outputPath('vite'),
    logLevel: 'error',
    // A file that is edited meanwhile would reload the page.
    server: { host: '127.0.0.1', port: 0, watch: null },
  });
  try {
    await vite.listen();
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    let loads = 0;
    page.on('load', () => loads++);
    const [origin] = (vite as ViteDevServer).resolvedUrls!.local;
    await page.goto(origin!);
    await expect(page.getByRole('button', { name: 'Kill the worker' })).toBeEnabled(SLOW);
    const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
    await expect(links).toHaveText(Object.keys(USES));
    for (const [title, use] of Object.entries(USES))
      await test.step(title, async () => {
        await links.getByText(title, { exact: true }).click();
        await expect(page.getByRole('heading', { level: 1 })).toHaveText(title === 'Docs' ? 'TabServe' : title);
        await use(page);
        expect(complaints, title).toEqual([]);
        expect(loads, 'Vite has found no package late, which reloads the page').toBe(1);
      });
  } finally {
    await vite.close();
  }
});
