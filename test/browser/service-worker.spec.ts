import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import type { Seen } from './pages/predictions.ts';
import { predictionServer, type PredictionServer } from './prediction-server.ts';

test.use({ reuseTab: false });

/** Texts, and the logits that TorchServe's text classifier computes of them. */
const { torchserve } = JSON.parse(readFileSync(new URL('../models/text/goldens.json', import.meta.url), 'utf8')) as {
  torchserve: { bigrams: { text: string }[]; logits: number[][] };
};
const LABELS = ['World', 'Sports', 'Business', 'Sci/Tech'];
const [{ text: TEXT }] = torchserve.bigrams as [{ text: string }];
const BYTES = new TextEncoder().encode(TEXT).length;

/** TorchServe's text classifier answers with the probability of each label. */
function expectTorchServe(body: unknown, row = 0): void {
  const logits = torchserve.logits[row]!;
  const sum = logits.reduce((all, logit) => all + Math.exp(logit), 0);
  expect(Object.keys(body as object).toSorted()).toEqual(LABELS.toSorted());
  for (const [index, label] of LABELS.entries())
    expect((body as Record<string, number>)[label]).toBeCloseTo(Math.exp(logits[index]!) / sum, 3);
}

async function open(page: Page, { origin }: PredictionServer): Promise<Page> {
  await page.goto(`${origin}/test/browser/pages/predictions.html`);
  await page.waitForFunction(() => 'predictions' in window);
  return page;
}

/** Sends a request as any app does, with nothing but `fetch`. */
async function ask(page: Page, path: string, body: string | undefined = TEXT): Promise<Seen> {
  return await page.evaluate(([path, body]) => window.predictions.ask(path!, body), [path, body]);
}

const get = (page: Page, path: string): Promise<Seen> => page.evaluate((path) => window.predictions.ask(path), path);

test('fetch is answered by the tab as TorchServe answers, or by the server, as each policy says; what is device-only is never sent @once @firefox', async ({
  page,
  baseURL,
  browserName,
}) => {
  await using site = await predictionServer(baseURL!);
  await open(page, site);

  // The first visit: no service worker yet.
  expect((await ask(page, '/predictions/news')).said).toBe('200 by null, because: null');
  await page.evaluate(() => window.predictions.register(1));
  expect(await ask(page, '/predictions/news')).toEqual({ said: '200 by server, because: no-host', body: 'the server' });
  expect((await ask(page, '/predictions/private')).said).toBe('503 by none, because: no-host');
  expect(site.got).toEqual([`POST /predictions/news ${BYTES}`, `POST /predictions/news ${BYTES}`]);

  await page.evaluate(() => window.predictions.host(['news', 'private', 'backup']));
  site.got.length = 0;
  for (const [row, { text }] of torchserve.bigrams.slice(0, 3).entries()) {
    const answered = await ask(page, '/predictions/news', text);
    expect(answered.said).toBe('200 by device, because: device-first');
    expectTorchServe(answered.body, row);
  }
  const form = await page.evaluate(
    (text) => window.predictions.ask('/predictions/news/1.0', window.predictions.form(text)),
    TEXT,
  );
  expectTorchServe(form.body);
  expectTorchServe((await ask(page, '/predictions/private')).body);
  expect((await ask(page, '/predictions/private/9.9')).said).toBe('503 by none, because: unknown-model');
  expect(await get(page, '/ping')).toEqual({
    said: '200 by device, because: device-first',
    body: { status: 'Healthy' },
  });
  expect((await get(page, '/models')).body).toMatchObject({
    models: expect.arrayContaining([expect.objectContaining({ modelName: 'news' })]),
  });
  expect((await get(page, '/metrics')).body).toContain('ts_inference_requests_total');
  expect((await get(page, '/v2/models/news')).body).toMatchObject({ name: 'news', platform: 'onnx_onnxv1' });
  expect(site.got).toEqual([]);
  expect((await ask(page, '/predictions/elsewhere')).said).toBe('200 by server, because: unknown-model');

  for (const [state, reason] of [
    ['down', 'server-unreachable'],
    ['failing', 'server-failed'],
    ['slow', 'server-timeout'],
  ] as const) {
    site.state = state;
    site.got.length = 0;
    const answered = await ask(page, '/predictions/backup');
    expect(answered.said).toBe(`200 by device, because: ${reason}`);
    expectTorchServe(answered.body);
    expect(site.got).toEqual([`POST /predictions/backup ${BYTES}`]);
  }
  site.state = 'up';
  expect((await ask(page, '/predictions/backup')).said).toBe('200 by server, because: server-first');

  // Another version of the app's service worker takes over: it knows nothing, and finds the page.
  await page.evaluate(() => window.predictions.register(2));
  // Until then the first version answers.
  await expect.poll(() => page.evaluate(() => navigator.serviceWorker.controller?.scriptURL)).toMatch(/version=2$/);
  await expect.poll(() => page.evaluate(() => navigator.serviceWorker.controller?.state)).toBe('activated');
  expect((await ask(page, '/predictions/news')).said).toContain('by device');
  if (browserName !== 'chromium') return;
  // The browser stops the service worker, and starts it again for the next request.
  const devtools = await page.context().newCDPSession(page);
  // Chromium itself stops one that has nothing to do. A request that arrives while this one stops goes to the network.
  const stopped = new Promise<void>((resolve) =>
    devtools.on('ServiceWorker.workerVersionUpdated', ({ versions }) => {
      if (versions.some((one) => one.scriptURL.endsWith('version=2') && one.runningStatus === 'stopped')) resolve();
    }),
  );
  await devtools.send('ServiceWorker.enable');
  await devtools.send('ServiceWorker.stopAllWorkers');
  await stopped;
  expect((await ask(page, '/predictions/news')).said).toContain('by device');
  // After a hard reload no service worker controls the page, until it is claimed.
  await devtools.send('Page.reload', { ignoreCache: true });
  await page.waitForFunction(() => 'predictions' in window);
  expect(await page.evaluate(() => window.predictions.isControlled())).toBe(false);
  await page.evaluate(() => window.predictions.whenControlled());
  expect((await ask(page, '/predictions/private')).said).toBe('503 by none, because: no-host');
});

test('what is device-only never leaves, in any order of updates, stops and closed pages, and is answered @once', async ({
  page,
  context,
  baseURL,
  browserName,
}) => {
  test.skip(browserName !== 'chromium', 'stops service workers with Chromium’s DevTools');
  await using site = await predictionServer(baseURL!);
  await open(page, site);
  await page.evaluate(() => window.predictions.register(1));
  await page.evaluate(() => window.predictions.host(['private']));
  const devtools = await context.newCDPSession(page);
  await devtools.send('ServiceWorker.enable');
  // One that is stopped while it becomes the active one gets no requests of the page any more: about every second.
  for (let version = 2; version <= 9; version++) {
    const from = version % 3 === 0 ? await open(await context.newPage(), site) : page;
    await from.evaluate(
      async (url) => void (await navigator.serviceWorker.register(url, { type: 'module', scope: '/' })),
      `/test/browser/workers/predictions.sw.ts?version=${version}`,
    );
    await devtools.send('ServiceWorker.stopAllWorkers');
    if (from !== page) await from.close();
    const seen = await Promise.all([1, 2, 3].map(async () => await ask(page, '/predictions/private')));
    expect(
      seen.map(({ said }) => said),
      `version ${version}`,
    ).toEqual(Array.from({ length: 3 }, () => '200 by device, because: device-only'));
    expectTorchServe(seen[0]!.body);
    expect(site.got).toEqual([]);
  }
  // Without any service worker the request fails, and still does not leave.
  await page.evaluate(async () => void (await (await navigator.serviceWorker.getRegistration())!.unregister()));
  const failed = await page.evaluate(() =>
    window.predictions.ask('/predictions/private', 'x').catch((error) => error.code),
  );
  expect(failed).toBe('worker-lost');
  expect(site.got).toEqual([]);
});

/** What TorchServe's own handlers answer to the same bytes with the same models: `test/models/torchserve/make.py`. */
const RECORDED = JSON.parse(
  readFileSync(new URL('../models/torchserve/goldens.json', import.meta.url), 'utf8'),
) as Record<string, readonly ({ answer: unknown } & ({ file: string } | { text: string }))[]>;

test('fetch gets the JSON that TorchServe’s four handlers have answered, within 10⁻³ @once @full', async ({
  page,
  baseURL,
}) => {
  await using site = await predictionServer(baseURL!);
  await open(page, site);
  await page.evaluate(() => window.predictions.register(1));
  const names = Object.keys(RECORDED);
  expect(names).toEqual(['image_classifier', 'image_segmenter', 'object_detector', 'text_classifier']);
  await page.evaluate((names) => window.predictions.hostFolder('/test/models/torchserve/', names), names);
  for (const [name, cases] of Object.entries(RECORDED)) {
    const seen = await page.evaluate(
      async ([name, cases]) => {
        const answers: Seen[] = [];
        for (const one of cases) {
          const body = 'text' in one ? one.text : await (await fetch(`/${one.file.replace(/^public\//, '')}`)).blob();
          answers.push(await window.predictions.ask(`/predictions/${name}`, body));
        }
        return answers;
      },
      [name, cases] as const,
    );
    for (const [index, { said, body }] of seen.entries()) {
      expect(said).toBe('200 by device, because: device-first');
      const worst = difference(body, cases[index]!.answer);
      console.log(`${name}, ${JSON.stringify(cases[index]).slice(0, 60)}: ${worst.toExponential(1)}`);
      expect(worst, `${name} ${index}: ${JSON.stringify(body).slice(0, 500)}`).toBeLessThanOrEqual(1e-3);
    }
  }
  expect(site.got).toEqual([]);
});

/** The largest difference of two numbers in the same place; infinite if anything else differs. */
function difference(one: unknown, other: unknown): number {
  if (typeof one === 'number' && typeof other === 'number') return Math.abs(one - other);
  if (typeof one !== 'object' || typeof other !== 'object' || !one || !other) return one === other ? 0 : Infinity;
  const keys = Object.keys(one);
  if (keys.toSorted().join() !== Object.keys(other).toSorted().join()) return Infinity;
  return Math.max(0, ...keys.map((key) => difference((one as never)[key], (other as never)[key])));
}

test('the hosting tab is closed in the middle: another tab answers, or the server, once @once @full', async ({
  page,
  context,
  baseURL,
}) => {
  await using site = await predictionServer(baseURL!);
  await open(page, site);
  await page.evaluate(() => window.predictions.register(1));
  const closeWhileItAnswers = async (): Promise<Seen> => {
    const hosting = await open(await context.newPage(), site);
    await hosting.evaluate(() => window.predictions.host(['news'], true));
    const answered = ask(page, '/predictions/news');
    await hosting.waitForFunction(() => window.predictions.gated === 1);
    site.got.length = 0;
    if ((await context.pages().length) > 2) throw new Error('expected two tabs');
    await page.evaluate((also) => (also ? window.predictions.host(['news']) : undefined), second);
    await hosting.close();
    return await answered;
  };
  let second = false;
  expect((await closeWhileItAnswers()).said).toBe('200 by server, because: host-lost');
  expect(site.got).toEqual([`POST /predictions/news ${BYTES}`]);
  second = true;
  const answered = await closeWhileItAnswers();
  expect(answered.said).toBe('200 by device, because: device-first');
  expectTorchServe(answered.body);
  expect(site.got).toEqual([]);
});

test('without a network the tab answers, after a reload too @once @full', async ({ page, baseURL }) => {
  await using site = await predictionServer(baseURL!);
  await open(page, site);
  await page.evaluate(() => window.predictions.register(1));
  // The page, the model and the engine are kept.
  await page.reload();
  await page.waitForFunction(() => 'predictions' in window);
  await page.evaluate(() => window.predictions.host(['news']));
  await site[Symbol.asyncDispose]();
  expectTorchServe((await ask(page, '/predictions/news')).body);
  await page.reload();
  await page.waitForFunction(() => 'predictions' in window);
  expect((await ask(page, '/predictions/news')).said).toBe('503 by none, because: no-host');
  await page.evaluate(() => window.predictions.host(['news']));
  const answered = await ask(page, '/predictions/news');
  expect(answered.said).toBe('200 by device, because: device-first');
  expectTorchServe(answered.body);
});

test('a service worker cannot load a model itself, and is told where to load it @once', async ({ page }) => {
  await page.goto('/test/browser/pages/blank.html');
  const told = await page.evaluate(async () => {
    const url = '/test/browser/workers/loading.sw.ts';
    const registration = await navigator.serviceWorker.register(url, { type: 'module' });
    const { installing, waiting, active } = registration;
    const worker = (installing ?? waiting ?? active)!;
    const ask = async (attempt: string): Promise<unknown> => {
      const { port1, port2 } = new MessageChannel();
      const answer = new Promise((resolve) => (port1.onmessage = ({ data }) => resolve(data)));
      worker.postMessage(attempt, [port2]);
      return await answer;
    };
    const answers = [await ask('load'), await ask('connect')];
    await registration.unregister();
    return answers;
  });
  const error = {
    code: 'unsupported',
    message: expect.stringMatching(/^A service worker can start no Web Worker.*offscreen document/),
  };
  expect(told).toEqual([error, error]);
});
