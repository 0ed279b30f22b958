import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyAssets, install, temporary } from './app.ts';
import { expect, expectSeven, test } from './fixtures.ts';
import { POLICY, serve } from './server.ts';

/** Pages on which a browser refuses some workers: each works, or its error names the remedy. */
test.describe.configure({ mode: 'default' });

const TRUSTED = `${POLICY}; require-trusted-types-for 'script'`;
let folder: string;

test.beforeAll(async ({ tarball }) => {
  folder = await install(tarball, 'plain');
  await copyAssets(folder, 'tabserve');
});
test.afterAll(() => rmSync(folder, { recursive: true, force: true }));

for (const [what, policy] of [
  ['required', TRUSTED],
  ['required and listed', `${TRUSTED}; trusted-types tabserve`],
] as const) {
  test(`Trusted Types, ${what}`, async ({ open, complaints }) => {
    await using site = await serve([folder, join(folder, 'public')], { policy });
    expectSeven(await open(site.origin));
    expect(complaints).toEqual([]);
  });
}

test('Trusted Types, with a list that lacks tabserve', async ({ open }) => {
  await using site = await serve([folder, join(folder, 'public')], { policy: `${TRUSTED}; trusted-types other` });
  await expect(open(site.origin)).rejects.toThrow(/could not be made: .* add tabserve to it/);
});

test('scripts on another origin: the remedy works', async ({ open }) => {
  const page = temporary();
  try {
    await using cdn = await serve([folder], { cors: true });
    const html = readFileSync(join(folder, 'index.html'), 'utf8');
    writeFileSync(join(page, 'index.html'), html.replace('"/main.js"', `"${cdn.origin}/main.js"`));
    await using site = await serve([page, join(folder, 'public'), folder], { policy: '' });
    await expect(open(site.origin)).rejects.toThrow(
      /no worker whose script is of another origin.*npx tabserve copy public\/tabserve.*assets: '\/tabserve\/'/,
    );
    // The built-in worker starts; the app's own, which is on the other origin, does not.
    await expect(open(`${site.origin}/?assets=/tabserve/`)).rejects.toThrow(/odd-or-even\.worker\.js/);
    expect([...site.sent.keys()]).toContain('/tabserve/ort-wasm-simd-threaded.wasm');
  } finally {
    rmSync(page, { recursive: true, force: true });
  }
});

for (const [what, url] of [
  ['a Blob', "URL.createObjectURL(new Blob([code], { type: 'text/javascript' }))"],
  ['a data: URL', '`data:text/javascript,${encodeURIComponent(code)}`'],
] as const) {
  test(`the standalone worker, from ${what}`, async ({ page }) => {
    const own = temporary();
    try {
      writeFileSync(
        join(own, 'index.html'),
        `<!doctype html><output></output><script type="module">
          import { connect } from './tabserve/tabserve.js';
          const code = \`import \${JSON.stringify(new URL('./tabserve/worker.js', location.href).href)}\`;
          const url = ${url};
          const client = connect(() => new Worker(url, { type: 'module' }), {
            model: new URL('./models/digits/', location.href).href,
            backends: ['wasm'],
          });
          const text = await client.initialize().then(() => client.backend.name, String);
          document.querySelector('output').textContent = text;
        </script>`,
      );
      await using site = await serve([own, folder, join(folder, 'public')], { policy: '', cors: true });
      await page.goto(site.origin);
      await expect(page.locator('output')).toHaveText('wasm', { timeout: 30_000 });
    } finally {
      rmSync(own, { recursive: true, force: true });
    }
  });
}
