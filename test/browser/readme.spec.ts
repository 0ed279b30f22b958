import { readFileSync } from 'node:fs';
import { expect, test } from './fixtures.ts';

/** Each block of the README stands in a file, named in the comment before it, and that file runs. */
const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const blocks = [...readme.matchAll(/(?:<!-- (\S+) -->\n)?```(\w+)\n([^]*?)```/g)].map(([, file, language, code]) => ({
  file,
  language,
  code: code!,
}));

test('every block of code in the README is a file that runs @once', () => {
  expect(blocks.length).toBeGreaterThan(4);
  for (const { file, language, code } of blocks) {
    if (language === 'sh') continue;
    expect(file, `this block names its file:\n${code}`).toBeDefined();
    expect(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'), file).toContain(code);
  }
  for (const command of blocks.filter(({ language }) => language === 'sh').flatMap(({ code }) => code.split('\n'))) {
    const script = /^npm (?:run )?(\w+)/.exec(command)?.[1];
    if (script && script !== 'install')
      expect(
        Object.keys(
          (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { scripts: object })
            .scripts,
        ),
        command,
      ).toContain(script);
  }
});

for (const [file, expected] of [
  ['quick.ts', [/^\{three: 0\.9\d+/, /engine: onnx, name: wasm/]],
  ['healing.ts', [/^\{three: 0\.9\d+/]],
  [
    'metrics.ts',
    [
      /unit: Count, value: 20\}$/,
      /unit: ms, count: 20, sum: [\d.]+/,
      /^HandlerTime\{ModelName="digits",Level="Model",quantile="0.95"\} [\d.]+$/m,
    ],
  ],
  ['serving.ts', [/^29 answered, 11 refused at once$/, /^any [12] \{remainingCapacity: 20, pendingRequests: 0\}$/]],
  ['text.ts', [/^\{German: 0\.\d+\}$/]],
  ['proven.ts', [/^(onnx|tfjs)\/(wasm|webgl), proven by golden: \d+(\.\d+)? ms a run$/]],
  ['even.ts', [/^odd$/, /^image-decode in preprocess$/]],
] as const) {
  test(`README: ${file} @once`, async ({ page }) => {
    const lines: string[] = [];
    page.on('console', (message) => message.type() === 'log' && lines.push(message.text()));
    page.on('pageerror', (error) => lines.push(String(error)));
    await page.goto('/test/browser/pages/readme.html');
    await page.addScriptTag({ type: 'module', url: `/test/readme/${file}` });
    await expect.poll(() => lines.length).toBe(expected.length);
    for (const [index, pattern] of expected.entries()) expect(lines[index]).toMatch(pattern);
  });
}

test('README: counted.worker.ts @once', async ({ open }) => {
  const page = await open();
  const answers = await page.evaluate(async () => {
    const client = window.tabserve.connect(() => new Worker('/test/readme/counted.worker.ts', { type: 'module' }), {
      model: '/models/digits/',
      backends: ['wasm'],
    });
    await client.initialize();
    const three = await (await fetch('/models/digits/samples/drawn-3.png')).blob();
    await client.handle([three, three] as never);
    const { counters } = client.metrics.snapshot();
    await client.dispose();
    return counters['Answers'];
  });
  expect(answers).toEqual([{ labels: { digit: 'three' }, unit: 'count', value: 2 }]);
});

test('README: boxes.ts @once', async ({ page }) => {
  const lines: string[] = [];
  page.on('console', (message) => message.type() === 'log' && lines.push(message.text()));
  page.on('pageerror', (error) => lines.push(String(error)));
  await page.goto('/test/browser/pages/readme.html');
  await page.locator('img').evaluate(async (image: HTMLImageElement) => {
    image.src = '/models/centernet/samples/cat.jpg';
    await image.decode();
  });
  await page.addScriptTag({ type: 'module', url: '/test/readme/boxes.ts' });
  await expect.poll(() => lines.length, { timeout: 60_000 }).toBe(1);
  expect(lines[0]).toMatch(/^cat 0\.56\d* \{xmin: 0\.\d+, ymin: 3\.\d+, xmax: 418\.\d+, ymax: 297\.\d+\}$/);
});

test('README: cutout.ts @once', async ({ page }) => {
  await page.goto('/test/browser/pages/readme.html');
  await page.locator('img').evaluate(async (image: HTMLImageElement) => {
    image.src = '/models/selfie/samples/astronaut.jpg';
    await image.decode();
  });
  await page.addScriptTag({ type: 'module', url: '/test/readme/cutout.ts' });
  await page.locator('canvas').waitFor({ timeout: 60_000 });
  const alphas = await page.locator('canvas').evaluate((canvas: HTMLCanvasElement) => {
    const alphaAt = (x: number, y: number) => canvas.getContext('2d')!.getImageData(x, y, 1, 1).data[3]!;
    return { size: [canvas.width, canvas.height], corner: alphaAt(4, 4), face: alphaAt(220, 110) };
  });
  expect(alphas.size).toEqual([512, 512]);
  expect(alphas.corner).toBeLessThan(10);
  expect(alphas.face).toBeGreaterThan(245);
});
