import { BadServer } from '../bad-server.ts';
import { expect, test } from './fixtures.ts';
import { serveWithHeaders } from './header-proxy.ts';

test.use({ reuseTab: 'emptied' });

/** Pages that may do less than others. */
const PAGE = '/test/browser/pages/tabserve.html?isolated=no';
const ARCHIVES = ['tiny.mar', 'tiny-store.mar', 'tiny.tar.gz'].map((name) => `/test/models/archives/${name}`);

/** Answers of packed archives for one picture. Runs in the page. */
async function answers(urls: readonly string[]): Promise<unknown[]> {
  const answers = [];
  for (const url of urls) {
    const client = await window.tabserve.load(url, { backends: ['onnx/wasm'] });
    answers.push(await client.predict({ data: new Uint8Array(64 * 3).fill(100), dims: [8, 8, 3] }));
    await client.dispose();
  }
  return answers;
}

test('packed archives load under a strict Content-Security-Policy as without one @once', async ({
  open,
  baseURL,
  page,
}) => {
  const expected = await (await open()).evaluate(answers, ARCHIVES);
  const policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; img-src data:";
  await using site = await serveWithHeaders(baseURL!, { 'content-security-policy': policy });
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(site.origin + PAGE);
  await page.waitForFunction(() => 'tabserve' in window);
  expect(await page.evaluate(answers, ARCHIVES)).toEqual(expected);
  expect(complaints).toEqual([]);
});

test('what connect-src forbids is asked for twice at most, and the error says so @once', async ({ baseURL, page }) => {
  const other = await BadServer.start({ files: {}, headers: { 'Access-Control-Allow-Origin': '*' } });
  try {
    await using site = await serveWithHeaders(baseURL!, { 'content-security-policy': "connect-src 'self'" });
    await page.goto(site.origin + PAGE);
    await page.waitForFunction(() => 'tabserve' in window);
    const [model, engine] = await page.evaluate(
      async (origin) => [
        await window.failure(window.tabserve.load(`${origin}/m.onnx`, { handler: 'base_handler' })),
        await window.failure(
          window.tabserve.load('/test/models/affine_fixed.onnx', {
            handler: 'base_handler',
            backends: ['onnx/wasm'],
            assets: `${origin}/`,
          }),
        ),
      ],
      other.origin,
    );
    expect(model).toMatchObject({ code: 'network', message: expect.stringContaining(`Add ${other.origin}`) });
    expect(model!.message).not.toContain('retries');
    expect(engine!.message).toContain('connect-src');
    expect(engine!.message).not.toContain('retries');
    expect(other.seen).toEqual([]);
  } finally {
    other.stop();
  }
});

test('a sandboxed frame: the error of a worker that it may not load names the remedy; a worker that it may load runs without storage @once @firefox', async ({
  open,
  baseURL,
  page,
  browserName,
}) => {
  const [expected] = await (await open()).evaluate(answers, ARCHIVES.slice(0, 1));
  await using site = await serveWithHeaders(baseURL!, { 'access-control-allow-origin': '*' });
  await page.goto(`${site.origin}/no-such-page?isolated=no`);
  await page.setContent(`<iframe sandbox="allow-scripts" src="${PAGE}"></iframe>`);
  const frame = page.frames()[1]!;
  await frame.waitForFunction(() => 'tabserve' in window);
  const { refused, answer, warnings } = await frame.evaluate(
    async ({ origin, model }) => {
      const refused = await window.failure(window.tabserve.load(model, { backends: ['onnx/wasm'] }));
      const script = `import ${JSON.stringify(`${origin}/src/worker/default.worker.js`)}`;
      const client = window.tabserve.connect(
        () => new Worker(`data:text/javascript,${encodeURIComponent(script)}`, { type: 'module' }),
        { model, backends: ['onnx/wasm'] },
      );
      const warnings: string[] = [];
      client.on('warn', ({ message }) => warnings.push(message));
      await client.initialize();
      const answer = await client.predict({ data: new Uint8Array(64 * 3).fill(100), dims: [8, 8, 3] });
      await client.dispose();
      return { refused, answer, warnings };
    },
    { origin: site.origin, model: ARCHIVES[0]! },
  );
  expect(refused).toMatchObject({ code: 'worker-failed', message: expect.stringContaining('allow-same-origin') });
  if (browserName === 'chromium') expect(refused.message).toContain("Failed to construct 'Worker'");
  expect(answer).toEqual(expected);
  expect(warnings).toEqual(['Cached files cannot be read: a frame or worker with an opaque origin has no storage']);
});
