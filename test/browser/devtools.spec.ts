import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from '@playwright/test';
import axe from 'axe-core';
import type { ReportedModel } from '../../src/devtools.ts';
import type { Client } from '../../src/index.ts';
import { compareReports } from '../../src/tools/cli/compare-reports.ts';
import { readReport } from '../../src/tools/cli/read-report.ts';
import { expect, test } from './fixtures.ts';

/** The panel of `tabserve/devtools`, on a page whose policy allows no styles, and requires Trusted Types. */

declare global {
  interface Window {
    axe: typeof axe;
    digits: Client;
  }
}

test.use({ reuseTab: 'emptied' });

const model = fileURLToPath(new URL('../../public/models/digits/digits.onnx', import.meta.url));

/** Opens the page, and the panel with a client that has answered three requests. */
async function openPanel(page: Page): Promise<void> {
  await page.goto('/test/browser/pages/devtools.html');
  await page.waitForFunction(() => 'devtools' in window);
  await page.evaluate(async () => {
    const { load, mountDevtools } = window.devtools;
    window.digits = await load('/models/digits/', { handler: 'image_classifier', backends: ['onnx/wasm'] });
    mountDevtools([window.digits]);
  });
  await predict(page, 3);
}

/** Asks one after the other. Returns the first label of each answer. */
async function predict(page: Page, times: number): Promise<string[]> {
  return await page.evaluate(async (times) => {
    const photo = await (await fetch('/models/digits/samples/drawn-3.png')).blob();
    const labels: string[] = [];
    for (let i = 0; i < times; i++)
      labels.push(((await window.digits.predict(photo)) as { label: string }[])[0]!.label);
    return labels;
  }, times);
}

test('shows workers, requests, backends and files; a worker that is ended heals, and the timeline says so @once', async ({
  page,
}) => {
  await openPanel(page);
  const panel = page.locator('tabserve-devtools');
  await expect(panel.getByRole('heading', { level: 3, name: 'digits' })).toBeVisible();
  const workers = panel.getByRole('region', { name: 'Workers of client 1' }).locator('tbody tr');
  await expect(workers).toHaveCount(1);
  await expect(workers).toContainText(/1ready\s*onnx\/wasm, 1 thread\s*0\s*3\s*\d+\.\d MB/);
  await expect(panel.getByText('Outcomes: ok 3.')).toBeVisible();
  const timeline = panel.getByRole('region', { name: 'Timeline of client 1' }).locator('li');
  const requests = timeline.and(panel.locator('[data-kind="request"]'));
  await expect(requests).toHaveCount(3);
  await expect(requests.first()).toContainText(
    /ms: queue [\d.]+ ms, preprocess [\d.]+ ms, inference [\d.]+ ms, postprocess [\d.]+ ms$/,
  );
  // The stages fill the longest request's bar, to a pixel's rounding.
  const filled = await requests.locator('.bar').evaluateAll((bars) =>
    bars.map((bar) => {
      const pieces = Array.from(bar.children, (piece) => piece.getBoundingClientRect().width);
      return pieces.reduce((sum, width) => sum + width) / bar.getBoundingClientRect().width;
    }),
  );
  expect(Math.max(...filled)).toBeCloseTo(1, 1);
  const backends = panel.getByRole('region', { name: 'Backends of client 1' }).locator('tbody tr');
  await expect(backends.first()).toContainText(/^onnx\/wasmServes: correct on the golden examples, largest difference/);
  const files = panel.getByRole('region', { name: 'Cached files' });
  const stored = files.getByRole('row', { name: '/models/digits/digits.onnx' });
  await expect(stored).toContainText(`${Math.round(statSync(model).size / 1e3)} kBcache-api`);

  await workers.getByRole('button', { name: 'End worker 1' }).click();
  await expect(timeline.filter({ hasText: 'You ended worker 1.' })).toHaveCount(1);
  await expect(
    timeline.filter({
      hasText:
        /Healed on onnx\/wasm, 1 thread in \d+ ms, 0 requests replayed, 0 failed\. Lost because: The app has ended the worker/,
    }),
  ).toHaveCount(1);
  await expect(workers).toHaveCount(1);
  await expect(workers).toContainText(/^2ready/);
  await expect(panel.getByText('Recoveries since this panel opened: 1. Healed on onnx/wasm')).toBeVisible();
  expect(await predict(page, 1)).toEqual(['three']);
  await expect(requests).toHaveCount(4);
  await page.evaluate(() => window.digits.predict(document.createElement('canvas')).catch(() => {}));
  await page.evaluate(() => window.digits.predict('/no/such/photo.png').catch(() => {}));
  await expect(timeline.filter({ hasText: /^[\d:]+Error\d requests? ended with [a-z-]+\.$/ }).first()).toBeVisible();
  expect(await page.evaluate(() => window.devtools.violations)).toEqual([]);
});

test('a request in a worker that is ended is answered, and the panel counts it @once', async ({ page }) => {
  await openPanel(page);
  const answers = await page.evaluate(async () => {
    const photo = await (await fetch('/models/digits/samples/drawn-3.png')).blob();
    const calls = [1, 2].map(() => window.digits.predict(photo));
    // A batch of one is full, so the worker has both.
    const running = window.digits.workerStatus.map(({ batches }) => batches);
    window.digits.workerStatus[0]!.end!();
    const labels = (await Promise.all(calls)).map((answer) => (answer as { label: string }[])[0]!.label);
    return { running, labels };
  });
  expect(answers).toEqual({ running: [2], labels: ['three', 'three'] });
  await expect(page.locator('tabserve-devtools').getByRole('status')).toHaveText(/2 requests replayed, 0 failed/);
});

test('shows the verdicts of earlier visits, and leaves out what is none @once', async ({ page }) => {
  await openPanel(page);
  await page.evaluate(async () => {
    const database = await new Promise<IDBDatabase>((resolve) => {
      const opening = indexedDB.open('tabserve', 1);
      opening.onsuccess = () => resolve(opening.result);
    });
    const store = database.transaction('verdicts', 'readwrite').objectStore('verdicts');
    const model = `${location.origin}/models/digits/?token=secret`;
    store.put({ environment: '', median: 1.25, compared: true }, `onnx/wasm with 2 threads ${model}`);
    store.put({ environment: '', failed: { reason: 'The GPU was lost.', visits: 2 } }, `onnx/webgpu ${model}`);
    store.put({ environment: 1 }, `tfjs/webgl ${model}`);
    await new Promise((resolve) => (store.transaction.oncomplete = resolve));
    database.close();
  });
  // The panel looks again after some seconds.
  const rows = page.locator('tabserve-devtools').getByRole('region', { name: 'Cached verdicts' }).locator('tbody tr');
  await expect(rows).toHaveText([
    'onnx/wasm with 2 threads/models/digits/computes as WASM does; 1.3 ms a run',
    'onnx/webgpu/models/digits/failed at 2 visits: The GPU was lost.',
  ]);
});

test('a report is shown before it is saved, and the file has what was shown @once', async ({ page, browserName }) => {
  test.skip(browserName === 'firefox', 'its WebDriver BiDi tells of no download');
  await openPanel(page);
  const panel = page.locator('tabserve-devtools');
  await panel.getByRole('button', { name: 'Save a report…' }).click();
  const dialog = panel.getByRole('dialog', { name: 'Save a report' });
  const shown = await dialog.getByRole('region', { name: 'The report' }).textContent();
  const download = page.waitForEvent('download');
  await dialog.getByRole('button', { name: 'Save' }).click();
  const file = await download;
  expect(file.suggestedFilename()).toMatch(/^tabserve-report-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.json$/);
  const path = test.info().outputPath('report.json');
  await file.saveAs(path);
  expect(readFileSync(path, 'utf8')).toBe(shown);
  await expect(dialog).toBeHidden();
  const report = await readReport(path);
  expect(report).toMatchObject({
    browser: await page.evaluate(() => navigator.userAgent),
    device: { cores: await page.evaluate(() => navigator.hardwareConcurrency), wasm: { available: true } },
    models: [{ name: 'digits', backend: { engine: 'onnx', name: 'wasm', proof: 'golden' }, outcomes: { ok: 3 } }],
  });
  const [{ times, log }] = report.models as [ReportedModel];
  expect(times['ts_handler_inference']!.count).toBe(3);
  expect(times['WorkerLoadTime onnx/wasm']!.count).toBe(1);
  expect(log.join('\n')).toMatch(/onnx\/wasm runs, correct on \d+ golden examples?/);
  expect(compareReports(report, report)).toContain('Device\n  no difference');

  await panel.getByRole('button', { name: 'Save a report…' }).click();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(dialog).toBeHidden();
  expect(await page.evaluate(() => window.devtools.violations)).toEqual([]);
});

test('a client that is not open yet, one that is no client, and a panel that is removed @once', async ({ page }) => {
  await page.goto('/test/browser/pages/devtools.html');
  await page.waitForFunction(() => 'devtools' in window);
  const found = await page.evaluate(() => {
    const { mountDevtools, TabServeDevtools } = window.devtools;
    let listeners = 0;
    const client = {
      backend: undefined,
      workerStatus: [],
      jobQueueStatus: { pendingRequests: 0, remainingCapacity: 100 },
      metrics: { snapshot: () => ({ counters: {}, gauges: {}, histograms: {} }), prometheus: () => '' },
      describe: () => Promise.reject(new Error('not open')),
      on: () => {
        listeners += 1;
        return () => void (listeners -= 1);
      },
    } as never;
    const panel = mountDevtools([client]);
    const text = panel.shadowRoot!.querySelector('section')!.textContent;
    const observing = listeners;
    panel.remove();
    const afterwards = listeners;
    document.body.append(panel);
    const again = listeners;
    panel.remove();
    let error: unknown;
    try {
      new TabServeDevtools().clients = {} as never;
    } catch (thrown) {
      error = thrown;
    }
    const { code, message } = error as { code: string; message: string };
    return { text, observing, afterwards, again, code, message };
  });
  expect(found.text).toContain('Client 1Not open yet.');
  expect(found.observing).toBe(5);
  expect(found).toMatchObject({ afterwards: 0, again: 5, code: 'invalid-input' });
  expect(found.message).toBe('clients: expected a list of clients, of load or connect, got {}.');
});

test.describe('how it looks', () => {
  test.use({ reuseTab: false });

  test('axe finds nothing, and nothing is cut, on a phone and on a screen, by day and by night @once', async ({
    page,
    browserName,
  }) => {
    test.skip(browserName === 'firefox', 'its WebDriver BiDi cannot choose the colors');
    await openPanel(page);
    const panel = page.locator('tabserve-devtools');
    await panel.getByRole('button', { name: 'End worker 1' }).click();
    await expect(panel.getByText(/Healed on/).first()).toBeVisible();
    await page.evaluate(axe.source);
    for (const width of [390, 1280])
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize({ width, height: 844 });
        await page.emulateMedia({ colorScheme });
        for (const isDocked of [true, false]) {
          await panel.evaluate((element, isDocked) => element.toggleAttribute('docked', isDocked), isDocked);
          expect.soft(await violationsOf(page), `${width}, ${colorScheme}, ${isDocked}`).toEqual([]);
          const overflow = await panel.evaluate(
            ({ shadowRoot }) =>
              Array.from(shadowRoot!.querySelectorAll('*')).filter((element) => {
                const inside = element.closest('.scroll, .unseen') !== null;
                return !inside && element.getBoundingClientRect().right > innerWidth + 1;
              }).length,
          );
          expect.soft(overflow, `${width}, ${isDocked}`).toBe(0);
          if (process.env['SHOTS'])
            await page.screenshot({
              path: `${process.env['SHOTS']}/${width}-${colorScheme}-${isDocked}.png`,
              fullPage: !isDocked,
            });
        }
      }
    await panel.getByRole('button', { name: 'Save a report…' }).click();
    await expect(panel.getByRole('dialog')).toBeVisible();
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 844 });
      expect.soft(await violationsOf(page), `dialog, ${width}`).toEqual([]);
      if (process.env['SHOTS']) await page.screenshot({ path: `${process.env['SHOTS']}/dialog-${width}.png` });
    }
    expect(await page.evaluate(() => window.devtools.violations)).toEqual([]);
  });
});

/** Runs every rule of axe on the page as it is. */
async function violationsOf(page: Page): Promise<string[]> {
  return await page.evaluate(async () => {
    const found = await window.axe.run(document, { resultTypes: ['violations'] });
    return found.violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
  });
}
