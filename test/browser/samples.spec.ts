// The samples of docs/tasks and of the migration pages run, with a small model of the same task in each repository's
// place. What the models answer is compared with Python elsewhere; here each sample gets an answer of its form.
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { answerAsHub } from './answer-as-hub.ts';
import { expect, test } from './fixtures.ts';
import { speakIntoMicrophone } from './microphone.ts';

const PHOTO = '<img src="/models/nanodet/samples/cat.jpg" alt="a cat">';
const PERSON = '<img src="/models/selfie/samples/astronaut.jpg" alt="an astronaut">';
const DIGIT = '<img src="/models/digits/samples/drawn-3.png" alt="a drawn three">';
const CANVAS = '<canvas></canvas>';
const FILE = '<input type="file">';
const FILES = '<input type="file" multiple>';
const SCORED = /^\S.* [01](\.\d+)?$/;
const POINT = /^\d+(\.\d+)? \d+(\.\d+)?$/;

/** What each sample writes to the console, and the page that it needs. */
const SAMPLES: Readonly<Record<string, { readonly body?: string; readonly lines: readonly RegExp[] }>> = {
  'from/face-api': { body: PERSON + CANVAS, lines: [/^\d+(\.\d+)? \d+(\.\d+)? [01](\.\d+)?$/] },
  'from/mediapipe': { body: PERSON, lines: [POINT] },
  'from/onnxruntime-web': { body: DIGIT, lines: [/^3 0\.9\d+$/] },
  'from/webllm': { lines: [/\S/] },
  'tasks/answers': { lines: [SCORED] },
  'tasks/choose-labels': { body: PHOTO, lines: [/^a (cat|dog) 0\.\d+$/] },
  'tasks/choose-topics': { lines: [/^(sports|science) 0\.\d+$/] },
  'tasks/classify-photos': { body: PHOTO, lines: [SCORED, SCORED, SCORED] },
  'tasks/cut-out': { body: PHOTO, lines: [/^\d+ \d+$/] },
  'tasks/depth': { body: PHOTO, lines: [/^\d+ \d+ true$/] },
  'tasks/describe': { body: PHOTO, lines: [/(stop|length)$/] },
  'tasks/documents': { body: PHOTO, lines: [/\S/] },
  'tasks/enlarge': { body: DIGIT, lines: [/^\d times as wide$/] },
  'tasks/entities': { lines: [/found$/] },
  'tasks/faces': { body: PERSON, lines: [/^[01](\.\d+)? \S/] },
  'tasks/find-by-name': { body: PHOTO, lines: [/found$/] },
  'tasks/gestures': { body: PERSON, lines: [/^-?\d+(\.\d+)? [01](\.\d+)? [01](\.\d+)?$/] },
  'tasks/image-search': { body: PHOTO, lines: [/cat\.jpg -?0\.\d+$/] },
  'tasks/missing-words': { lines: [SCORED, SCORED, SCORED] },
  'tasks/pages': { body: PHOTO, lines: [/\S/] },
  'tasks/parakeet': { body: FILE, lines: [/\S/] },
  'tasks/prompts': { body: PHOTO, lines: [/\S/] },
  'tasks/same-speaker': { body: FILES, lines: [/^(the same person|somebody else) -?[01](\.\d+)?$/] },
  'tasks/segment': { body: PHOTO, lines: [] },
  'tasks/silence': { body: FILE, lines: [] },
  'tasks/sounds': { body: FILE, lines: [SCORED, SCORED, SCORED] },
  'tasks/sounds-by-words': {
    body: FILES,
    lines: [SCORED, SCORED, SCORED, /^(platform|fan)\.wav /, /^(platform|fan)\.wav /],
  },
  'tasks/transcribe': { body: FILE, lines: [/^/] },
};

test('every sample of these pages has a test @once', () => {
  const names = ['from', 'tasks'].flatMap((folder) =>
    readdirSync(new URL(`../readme/${folder}/`, import.meta.url))
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name.replace('.ts', '')}`),
  );
  expect(names.toSorted()).toEqual(
    [...Object.keys(SAMPLES), 'tasks/cancel', 'tasks/click', 'tasks/keywords', 'tasks/live', 'tasks/yamnet'].toSorted(),
  );
});

/** Opens a page with this body. Returns the lines that it logs, and its errors, as they come. */
async function openPage(page: Page, body: string) {
  const lines: string[] = [];
  const errors: string[] = [];
  page.on('console', (message) => message.type() === 'log' && lines.push(message.text()));
  page.on('pageerror', (error) => errors.push(String(error)));
  await answerAsHub(page.context());
  await page.goto('/test/browser/pages/readme.html');
  await page.setContent(body);
  return { lines, errors };
}

for (const [name, { body = '', lines: expected }] of Object.entries(SAMPLES))
  test(`${name}.ts @once @full`, async ({ page }) => {
    const { lines, errors } = await openPage(page, body);
    await page.evaluate(() => Promise.all(Array.from(document.images, (image) => image.decode())));
    await page.addScriptTag({
      content: `import('/test/readme/${name}.ts').then(() => (document.title = 'done'), (error) => (document.title = String(error)));`,
    });
    await expect.poll(() => page.title(), { timeout: 60_000 }).not.toBe('');
    expect(await page.title()).toBe('done');
    if (body === FILE || body === FILES) {
      const sounds = ['platform', 'fan'].map((sound) => `public/models/vad/samples/${sound}.wav`);
      await page.locator('input').setInputFiles(body === FILE ? sounds.slice(0, 1) : sounds);
      await expect
        .poll(() => lines.length + errors.length, { timeout: 60_000 })
        .toBeGreaterThanOrEqual(expected.length);
    }
    expect(errors).toEqual([]);
    const last = expected.length === 0 ? [] : lines.slice(-expected.length);
    expect(last.length).toBe(expected.length);
    for (const [index, pattern] of expected.entries()) expect(last[index]).toMatch(pattern);
  });

test('tasks/yamnet.ts: means over frames, with the labels of a file @once @full', async ({ page }) => {
  const lines: string[] = [];
  page.on('console', (message) => message.type() === 'log' && lines.push(message.text()));
  page.on('pageerror', (error) => lines.push(String(error)));
  await page.context().route('/models/yamnet/*', async (route) => {
    if (route.request().url().endsWith('.onnx'))
      return await route.fulfill({ path: 'test/models/yamnet/onnx/model.onnx' });
    const names = ['Speech', '"Child speech, kid speaking"', 'Dog', 'Silence'];
    const body = ['index,mid,display_name', ...names.map((name, index) => `${index},/m/0${index},${name}`)].join(
      '\r\n',
    );
    return await route.fulfill({ body });
  });
  await page.goto('/test/browser/pages/readme.html');
  await page.setContent(FILE);
  await page.addScriptTag({
    content: `import('/test/readme/tasks/yamnet.ts').then(() => (document.title = 'done'), (error) => (document.title = String(error)));`,
  });
  await expect.poll(() => page.title(), { timeout: 60_000 }).toBe('done');
  await page.locator('input').setInputFiles('public/models/vad/samples/platform.wav');
  await expect.poll(() => lines, { timeout: 60_000 }).toContainEqual(expect.stringMatching(/^Silence 0\.\d+$/));
});

test('tasks/live.ts: words appear while a microphone hears them @once @full', async ({ page }) => {
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  await answerAsHub(page.context());
  await page.goto('/test/browser/pages/readme.html');
  await page.setContent('<button>Listen</button><p><span></span><span></span></p>');
  await speakIntoMicrophone(page);
  await page.addScriptTag({
    content: `import('/test/readme/tasks/live.ts').then(() => (document.title = 'done'), (error) => (document.title = String(error)));`,
  });
  await expect.poll(() => page.title(), { timeout: 60_000 }).toBe('done');
  await page.getByRole('button').click();
  await expect(page.locator('p')).not.toHaveText('', { timeout: 60_000 });
  expect(errors).toEqual([]);
});

test('tasks/cancel.ts: an hour is transcribed until Stop is pressed, and the next file after it @once @full', async ({
  page,
}) => {
  const { lines, errors } = await openPage(page, `${FILE}<button>Stop</button><p></p>`);
  await page.evaluate(() => import('/test/readme/tasks/cancel.ts' as string));
  const rate = 8000;
  const bytes = 3600 * rate * 2;
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + bytes, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  for (const [at, value] of [
    [20, 1],
    [22, 1],
    [32, 2],
    [34, 16],
  ] as const)
    header.writeUInt16LE(value, at);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * 2, 28);
  header.write('data', 36);
  header.writeUInt32LE(bytes, 40);
  // A tone that comes and goes.
  const second = Buffer.alloc(rate * 2);
  for (let at = 0; at < rate; at++)
    second.writeInt16LE(Math.round(9000 * Math.sin(at / 4) * Math.sin((at / rate) * Math.PI)), at * 2);
  const hour = test.info().outputPath('hour.wav');
  writeFileSync(hour, Buffer.concat([header, ...Array.from({ length: 3600 }, () => second)]));
  await page.locator('input').setInputFiles(hour);
  await expect(page.locator('p')).not.toHaveText('', { timeout: 60_000 });
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect.poll(() => lines, { timeout: 30_000 }).toEqual(['stopped']);
  const text = await page.locator('p').textContent();
  await page.locator('input').setInputFiles('public/models/vad/samples/platform.wav');
  await expect.poll(() => page.locator('p').textContent(), { timeout: 60_000 }).not.toBe(text);
  expect(lines).toEqual(['stopped']);
  expect(errors).toEqual([]);
});

test('tasks/keywords.ts: a keyword from a microphone @once @full', async ({ page }) => {
  const lines: string[] = [];
  page.on('console', (message) => message.type() === 'log' && lines.push(message.text()));
  page.on('pageerror', (error) => lines.push(String(error)));
  const files = { 'hey_jarvis_v0.1.onnx': 'hey_tab.onnx' };
  await page.context().route('/models/wake/*', async (route) => {
    const name = new URL(route.request().url()).pathname.split('/').at(-1)!;
    const path = `test/models/tasks/spot-keyword/${(files as Record<string, string>)[name] ?? name}`;
    await route.fulfill(existsSync(path) ? { path } : { status: 404 });
  });
  await page.goto('/test/browser/pages/readme.html');
  await page.setContent('<button>Listen</button>');
  await speakIntoMicrophone(page);
  await page.addScriptTag({
    content: `import('/test/readme/tasks/keywords.ts').then(() => (document.title = 'done'), (error) => (document.title = String(error)));`,
  });
  // The microphone ends with its recording.
  await expect.poll(() => page.title(), { timeout: 60_000 }).toBe('done');
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) expect(line).toMatch(/^hey_jarvis_v0\.1 at \d+\.\d s 0\.\d+$/);
});

test('tasks/click.ts: a click is answered by a mask @once @full', async ({ page }) => {
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  await answerAsHub(page.context());
  await page.goto('/test/browser/pages/readme.html');
  await page.setContent(`${PHOTO}<canvas></canvas>`);
  await page.addScriptTag({ type: 'module', url: '/test/readme/tasks/click.ts' });
  const canvas = page.locator('canvas');
  await expect(async () => {
    await canvas.click({ position: { x: 50, y: 50 } });
    const painted = await canvas.evaluate((one: HTMLCanvasElement) =>
      one
        .getContext('2d')!
        .getImageData(0, 0, one.width, one.height)
        .data.some((value) => value > 0),
    );
    expect(painted).toBe(true);
  }).toPass({ timeout: 60_000 });
  expect(errors).toEqual([]);
});
