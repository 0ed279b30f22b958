import { fileURLToPath } from 'node:url';
import type { Page } from '@playwright/test';
import { expect, test as base } from './fixtures.ts';

/**
 * `tabserve/react` in a development build of React, where StrictMode runs each effect twice; and the recipes of
 * docs/frameworks.md.
 */

base.use({ reuseTab: 'emptied' });

const three = fileURLToPath(new URL('../../public/models/digits/samples/drawn-3.png', import.meta.url));

interface Opened {
  readonly page: Page;
  /** How many workers were started, and how often the model was downloaded. */
  readonly count: { workers: number; downloads: number };
}

const test = base.extend<{ opened: Opened }>({
  opened: async ({ page }, use) => {
    const count = { workers: 0, downloads: 0 };
    page.on('worker', () => count.workers++);
    page.on('request', (request) => void (request.url().endsWith('/digits.onnx') && count.downloads++));
    await page.goto('/test/browser/pages/frameworks.html?isolated=no');
    await page.waitForFunction(() => 'frameworks' in window);
    await use({ page, count });
  },
});

/** Predicts the drawn three with a component's model; its label, or the code of the error. */
async function predict(page: Page, name: string, topK?: number): Promise<string[] | string> {
  return await page.evaluate(
    async ({ name, topK }) => {
      const photo = await (await fetch('/models/digits/samples/drawn-3.png')).blob();
      return await window.frameworks.models[name]!.predict(photo, topK === undefined ? {} : { params: { topK } }).then(
        (answer) => answer.map(({ label }) => label),
        (error: { code: string }) => error.code,
      );
    },
    { name, topK },
  );
}

const show = async (page: Page, asked: Parameters<Window['frameworks']['show']>[0]): Promise<void> =>
  await page.evaluate((asked) => window.frameworks.show(asked), asked);

const noWorkers = async (page: Page): Promise<void> => await expect.poll(() => page.workers().length).toBe(0);

test('StrictMode leaves one worker and one download; predict waits for it; unmounting ends it @once', async ({
  opened: { page, count },
}) => {
  await show(page, { a: {} });
  await page.locator('#a').waitFor();
  expect(await predict(page, 'a', 1)).toEqual(['three']);
  await expect(page.locator('#a')).toHaveText('ready');
  expect(await page.evaluate(() => window.frameworks.effects())).toBe(2);
  expect(await page.evaluate(() => window.frameworks.shown['a'])).toEqual(['loading', 'ready']);
  expect(await page.evaluate(() => window.frameworks.models['a']!.backend!.name)).toBe('wasm');
  expect(count).toEqual({ workers: 1, downloads: 1 });
  // Options that are written inline are new objects in each render.
  await show(page, { a: {} });
  expect(await predict(page, 'a', 2)).toHaveLength(2);
  expect(count).toEqual({ workers: 1, downloads: 1 });

  await show(page, {});
  await noWorkers(page);
  expect(await predict(page, 'a')).toBe('disposed');
});

test('components with the same options share a worker until the last is unmounted; other options get another @once', async ({
  opened: { page, count },
}) => {
  await show(page, { a: {}, b: { loading: 'lazy' } });
  await expect(page.locator('#a')).toHaveText('ready');
  await expect(page.locator('#b')).toHaveText('ready');
  expect(count.workers).toBe(1);
  await show(page, { b: { loading: 'lazy' } });
  expect(await predict(page, 'b')).toHaveLength(5);
  // A component that takes its place in the same commit keeps the worker; other options do not.
  await show(page, { c: {} });
  await expect(page.locator('#c')).toHaveText('ready');
  expect(count.workers).toBe(1);
  await show(page, { c: { topK: 3 } });
  await expect.poll(() => count.workers).toBe(2);
  await expect.poll(() => page.workers().length).toBe(1);
  await expect(page.locator('#c')).toHaveText('ready');
  expect(await predict(page, 'c')).toHaveLength(3);
});

test('unmounting while the model is loading ends it; pending calls are rejected @once', async ({
  opened: { page, count },
}) => {
  let asked = (): void => {};
  const downloading = new Promise<void>((resolve) => (asked = resolve));
  await page.route('**/digits.onnx', () => asked());
  await show(page, { a: {} });
  await page.locator('#a').waitFor();
  const pending = predict(page, 'a');
  await downloading;
  await show(page, {});
  expect(await pending).toBe('disposed');
  await noWorkers(page);
  expect(count).toEqual({ workers: 1, downloads: 1 });
});

test('an error, a second attempt, and an abort while it is loading @once @full', async ({ opened: { page } }) => {
  let answer: 'fail' | 'wait' | 'continue' = 'fail';
  let waiting = (): void => {};
  await page.route('**/digits.onnx', async (route) => {
    if (answer === 'fail') return await route.fulfill({ status: 404 });
    if (answer === 'wait') return waiting();
    return await route.continue();
  });
  await show(page, { a: {} });
  await expect(page.locator('#a')).toHaveText('model-not-found');
  answer = 'continue';
  await page.evaluate(() => window.frameworks.models['a']!.initialize());
  await expect(page.locator('#a')).toHaveText('ready');
  expect(await page.evaluate(() => window.frameworks.shown['a'])).toEqual(['loading', 'error', 'loading', 'ready']);

  answer = 'wait';
  const asked = new Promise<void>((resolve) => (waiting = resolve));
  await show(page, { b: { loading: 'lazy', topK: 2 } });
  await expect(page.locator('#b')).toHaveText('idle');
  const code = page.evaluate(async () => {
    const { predict } = window.frameworks.models['b']!;
    const aborts = new AbortController();
    Object.assign(window, { aborts });
    return await predict(new Blob(), { signal: aborts.signal }).catch((error: { code: string }) => error.code);
  });
  await asked;
  await page.evaluate(() => (window as unknown as { aborts: AbortController }).aborts.abort());
  expect(await code).toBe('aborted');
  await expect(page.locator('#b')).toHaveText('loading');
});

test('suspense: the fallback, then the component; an error goes to the boundary @once @full', async ({
  opened: { page, count },
}) => {
  await show(page, { a: { loading: 'suspense' } });
  await expect(page.locator('#a').first()).toHaveText('suspended');
  await expect(page.locator('#a:visible')).toHaveText('ready');
  expect(await page.evaluate(() => window.frameworks.shown['a'])).not.toContain('idle');
  expect(await predict(page, 'a', 1)).toEqual(['three']);
  expect(count).toEqual({ workers: 1, downloads: 1 });
  await show(page, {});
  await noWorkers(page);

  let answer = 404;
  await page.route('**/digits.onnx', async (route) =>
    answer === 404 ? await route.fulfill({ status: answer }) : await route.continue(),
  );
  await show(page, { b: { loading: 'suspense' } });
  await expect(page.locator('#b')).toHaveText('thrown model-not-found');
  await noWorkers(page);
  // The next component tries again.
  answer = 200;
  await show(page, { c: { loading: 'suspense' } });
  await expect(page.locator('#c:visible')).toHaveText('ready');
});

test('a worker factory that is written inline: one worker; refused where it would start one for ever @once @full', async ({
  opened: { page, count },
}) => {
  await show(page, { a: { inline: true } });
  await expect(page.locator('#a')).toHaveText('ready');
  await show(page, { a: { inline: true } });
  expect(await predict(page, 'a', 1)).toEqual(['three']);
  expect(count.workers).toBe(1);
  await show(page, { b: { inline: true, loading: 'suspense' } });
  await expect(page.locator('#b')).toHaveText('thrown model-config');
});

test('an Activity that is hidden ends the worker; when it is shown again, its children’s effects are answered @once @full', async ({
  opened: { page, count },
}) => {
  const answers = (): Promise<string[]> => page.evaluate(() => window.frameworks.answers);
  await page.evaluate(() => window.frameworks.showActivity('visible'));
  await expect.poll(answers).toEqual(['answered']);
  await page.evaluate(() => window.frameworks.showActivity('hidden'));
  await noWorkers(page);
  await page.evaluate(() => window.frameworks.showActivity('visible'));
  await expect.poll(answers).toEqual(['answered', 'answered']);
  await expect(page.locator('#parent')).toHaveText('ready');
  expect(count.workers).toBe(2);
});

test('the recipe for react, with a handler of its own @once', async ({ opened: { page } }) => {
  await page.evaluate(() =>
    window.frameworks.recipes['react, with a handler of its own'](document.querySelector('main')!),
  );
  await expect(page.locator('label')).toHaveText('idle');
  await page.locator('input').setInputFiles(three);
  await expect(page.locator('label')).toHaveText('odd');
});

/** Shows a recipe; `window.remove()` removes it. */
async function showRecipe(page: Page, name: keyof Window['frameworks']['recipes']): Promise<void> {
  await page.evaluate((name) => {
    const remove = window.frameworks.recipes[name](document.querySelector('main')!);
    Object.assign(window, { remove });
  }, name);
}

const remove = async (page: Page): Promise<void> =>
  await page.evaluate(() => (window as unknown as { remove: () => void }).remove());

for (const framework of ['react', 'vue'] as const)
  test(`the recipe for ${framework}, in parts: the text grows, is stopped, and begins again @once @full`, async ({
    opened: { page },
  }) => {
    await showRecipe(page, `${framework}, in parts`);
    const button = page.getByRole('button');
    const text = page.locator('p').first();
    await button.click();
    await expect(button).toHaveText('Stop');
    // The parts so far, while more of them come.
    await expect(text).not.toBeEmpty();
    await button.click();
    await expect(button).toHaveText('Write');
    await expect(text, 'what has come stays').not.toBeEmpty();
    await button.click();
    await expect(button).toHaveText('Write');
    // Twenty tokens of another answer: each is sampled anew.
    expect((await text.textContent())!.length).toBeGreaterThan(40);
    await button.click();
    await remove(page);
    await noWorkers(page);
  });

for (const framework of ['react', 'svelte'] as const)
  test(`the recipe for ${framework}, frames: each has its boxes; removing it ends the worker @once @full`, async ({
    opened: { page },
  }) => {
    // A camera that shows a photo.
    await page.evaluate(async () => {
      const photo = await createImageBitmap(await (await fetch('/models/nanodet/samples/cat.jpg')).blob());
      const canvas = Object.assign(document.createElement('canvas'), { width: 320, height: 240 });
      const context = canvas.getContext('2d')!;
      const draw = (): void => {
        context.drawImage(photo, 0, 0, 320, 240);
        requestAnimationFrame(draw);
      };
      draw();
      const camera = canvas.captureStream();
      navigator.mediaDevices.getUserMedia = async () => camera;
      Object.assign(window, { camera });
    });
    await showRecipe(page, `${framework}, frames`);
    const button = page.getByRole('button');
    await expect(button).toHaveText('idle');
    await button.click();
    await expect(page.locator('output')).toHaveText('1 objects');
    await expect(button).toHaveText('running');
    const drawn = await page.locator('canvas').evaluate((canvas: HTMLCanvasElement) => {
      return new Set(canvas.getContext('2d')!.getImageData(0, 0, 320, 240).data).size;
    });
    expect(drawn, 'the frame is drawn').toBeGreaterThan(50);
    await button.click();
    await expect(button).toHaveText('idle');
    const ended = await page.evaluate(() =>
      (window as unknown as { camera: MediaStream }).camera.getTracks().every((one) => one.readyState === 'ended'),
    );
    expect(ended).toBe(true);
    await remove(page);
    await noWorkers(page);
  });

for (const framework of ['react', 'vue', 'svelte'] as const) {
  test(`the recipe for ${framework} @once${framework === 'react' ? '' : ' @full'}`, async ({
    opened: { page, count },
  }) => {
    await showRecipe(page, framework);
    await expect(page.getByText('Ready, on wasm')).toBeVisible();
    await page.locator('input').setInputFiles(three);
    await expect(page.locator('output')).toHaveText('three');
    expect(count).toEqual({ workers: 1, downloads: 1 });
    await remove(page);
    await noWorkers(page);
  });
}
