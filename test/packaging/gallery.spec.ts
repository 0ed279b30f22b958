import { readdirSync, readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Locator, Page } from '@playwright/test';
import { MAX_FILE_BYTES } from '../../scripts/vite/large-files.ts';
import { expect, HOST, test } from './gallery-fixtures.ts';
import { serve } from './server.ts';

declare global {
  interface Window {
    /** Every camera that a page was given. */
    cameras: MediaStreamTrack[];
  }
}

const headline = (page: Page): Locator => page.locator('.top-name');
const found = (page: Page): Locator => page.getByRole('list', { name: 'Objects' }).getByRole('listitem');
const sample = (page: Page, shows: string): Locator => page.getByRole('button', { name: shows });
/** Loading, compiling and the first run of eight megabytes. */
const SLOW = { timeout: 60_000 };

async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let i = 0; i < 120 && !(await target.evaluate((element) => element === document.activeElement)); i++)
    await page.keyboard.press('Tab');
  await expect(target).toBeFocused();
}

/**
 * RGBA of the canvas over the picture, at a place in 0..1 of its width and height; of a copy, since a canvas that is
 * read often is no longer the GPU's.
 */
async function drawn(page: Page, x: number, y: number): Promise<readonly number[]> {
  return await page.locator('.layers canvas').evaluate(
    (canvas: HTMLCanvasElement, [x, y]) => {
      const pixel = new OffscreenCanvas(1, 1).getContext('2d')!;
      pixel.drawImage(canvas, -Math.floor(x * canvas.width), -Math.floor(y * canvas.height));
      return [...pixel.getImageData(0, 0, 1, 1).data];
    },
    [x, y] as const,
  );
}

test('no file is too large for a host of static files', ({ built }) => {
  const files = readdirSync(built, { recursive: true, encoding: 'utf8' });
  expect(files.some((file) => file.endsWith('.wasm'))).toBe(true);
  expect(files.filter((file) => statSync(`${built}/${file}`).size > MAX_FILE_BYTES)).toEqual([]);
});

test('objects: samples, boxes, the lowest score, and a file that is none @full', async ({
  page,
  gallery,
  complaints,
}) => {
  await page.goto(`${gallery}#/detection`);
  await expect(found(page).first()).toContainText('person', SLOW);
  await sample(page, 'a cat').click();
  await expect(found(page)).toHaveText([/cat.*%/], SLOW);
  // Somewhere on the box's upper edge there is paint; its middle is clear.
  const painted = await page.locator('.layers canvas').evaluate((canvas: HTMLCanvasElement) => {
    const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
    return data.filter((value, index) => index % 4 === 3 && value > 0).length / (data.length / 4);
  });
  expect(painted).toBeGreaterThan(0.005);
  expect(painted).toBeLessThan(0.1);

  await page.getByRole('slider', { name: 'Confidence threshold' }).fill('0.9');
  await expect(page.locator('.found .headline')).toHaveText('No object found');
  await page.getByRole('slider', { name: 'Confidence threshold' }).fill('0.3');
  await expect(found(page).first()).toContainText('cat');

  await page
    .locator('#chooser')
    .setInputFiles({ name: 'notes.png', mimeType: 'image/png', buffer: Buffer.from('no image') });
  await expect(page.locator('#note')).toContainText('notes.png could not be read as an image. Choose a JPEG');
  await expect(page.locator('#note').getByText('image-decode')).toBeHidden();
  await page.getByText('Technical message').click();
  await expect(page.locator('#note').getByText('image-decode')).toBeVisible();
  await expect(found(page), 'the answer to another picture is gone').toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Copy result' })).toBeDisabled();

  await sample(page, 'Grace Hopper').click();
  await expect(found(page).first()).toContainText('person', SLOW);
  await expect(page.locator('.timings')).toContainText(/Inference\s*\d/);
  await expect(page.getByText('Round trip')).toBeVisible();
  await expect(page.locator('#snippet')).toContainText(`load('/models/nanodet/', {`);
  await expect(page.locator('#snippet')).toContainText(
    `new URL('/models/nanodet/samples/grace-hopper.jpg', location.href)`,
  );
  await expect(page.locator('#snippet')).toContainText('scoreThreshold: 0.3 }');
  expect(complaints).toEqual([]);
});

test('the camera: refused in words, frame after frame, stopped when the demo is left @full', async ({
  page,
  context,
  gallery,
  complaints,
}) => {
  await page.addInitScript(() => {
    window.cameras = [];
    const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
    navigator.mediaDevices.getUserMedia = async (constraints) => {
      const stream = await ask(constraints);
      window.cameras.push(...stream.getTracks());
      return stream;
    };
  });
  const states = (): Promise<string[]> => page.evaluate(() => window.cameras.map(({ readyState }) => readyState));
  await page.goto(`${gallery}#/detection`);
  await expect(found(page).first()).toContainText('person', SLOW);

  await page.getByRole('button', { name: 'Start the camera' }).click();
  await expect(page.locator('#note')).toContainText('may not use the camera');
  await expect(found(page).first()).toContainText('person');

  await context.grantPermissions(['camera']);
  await page.getByRole('button', { name: 'Start the camera' }).click();
  await expect(page.locator('.rate')).toHaveText(/^[\d.]+ frames\/s$/, SLOW);
  await expect(page.locator('#note')).not.toContainText('may not use the camera');
  expect(await states()).toEqual(['live']);
  await expect(page.getByText('Round trip'), 'of a frame it is not known').toBeHidden();

  await page.getByRole('button', { name: 'Stop the camera' }).click();
  expect(await states()).toEqual(['ended']);
  await expect(found(page).first()).toContainText('person', SLOW);

  await page.getByRole('button', { name: 'Start the camera' }).click();
  await expect(page.getByRole('button', { name: 'Stop the camera' })).toBeVisible();
  await page.getByRole('link', { name: 'Background' }).click();
  await expect(headline(page)).toHaveText('Person', SLOW);
  expect(await states()).toEqual(['ended', 'ended']);

  await page.getByRole('button', { name: 'Start the camera' }).click();
  await expect(page.locator('.rate')).toHaveText(/^[\d.]+ frames\/s$/, SLOW);
  // Nobody is in the test picture: it stays as it is.
  await expect(headline(page)).toHaveText('No person found', SLOW);
  await expect(page.getByLabel('The camera’s picture')).toBeVisible();
  await expect(page.getByRole('slider', { name: 'Compare before and after' })).toBeHidden();

  await page.evaluate(() => {
    Object.defineProperty(document, 'hidden', { value: true, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  });
  expect(await states()).toEqual(['ended', 'ended', 'ended']);
  await expect(page.locator('#note')).toContainText('this tab was hidden');
  expect(complaints).toEqual([]);
});

test('background: every background @full', async ({ page, gallery, complaints }) => {
  await page.goto(`${gallery}#/background`);
  await page.getByRole('radio', { name: 'Mask' }).check();
  await sample(page, 'an astronaut').click();
  await expect(page.locator('.answer')).toHaveAttribute('data-state', 'ready', SLOW);
  await expect(page.locator('.answer')).not.toHaveAttribute('data-stale', /.*/, SLOW);
  const share = Number.parseFloat((await page.locator('.top-share').textContent())!);
  expect(share).toBeGreaterThan(30);
  expect(share).toBeLessThan(75);
  // Her face, and the wall beside it.
  expect((await drawn(page, 0.45, 0.25))[0]).toBeGreaterThan(230);
  expect((await drawn(page, 0.68, 0.08))[0]).toBeLessThan(40);
  await page.getByRole('radio', { name: 'Color' }).check();
  await page.getByLabel('Color of the background').fill('#0000ff');
  const [red, green, blue] = await drawn(page, 0.68, 0.08);
  expect(blue! - Math.max(red!, green!)).toBeGreaterThan(180);

  // The file is as large as the photo, and holds what is shown.
  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download PNG' }).click();
  const file = await (await saving).path();
  const saved = await page.evaluate(
    async (data) => {
      const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(data), (one) => one.charCodeAt(0))]));
      const pixel = new OffscreenCanvas(1, 1).getContext('2d')!;
      pixel.drawImage(bitmap, -Math.floor(0.68 * bitmap.width), -Math.floor(0.08 * bitmap.height));
      return { size: [bitmap.width, bitmap.height], pixel: [...pixel.getImageData(0, 0, 1, 1).data] };
    },
    readFileSync(file, 'base64'),
  );
  expect(saved).toEqual({ size: [512, 512], pixel: await drawn(page, 0.68, 0.08) });

  await page.getByRole('radio', { name: 'Evening' }).check();
  expect((await drawn(page, 0.45, 0.25))[3]).toBe(255);

  // Without a person the photo stays as it is. The address holds what is selected.
  await sample(page, 'a rocket').click();
  await expect(headline(page)).toHaveText('No person found');
  await expect(page.getByRole('img', { name: 'The photo' })).toBeVisible();
  await expect(page.getByRole('slider', { name: 'Compare before and after' })).toBeHidden();
  await expect(page.getByRole('button', { name: 'Download PNG' })).toBeDisabled();
  await expect(page).toHaveURL(/#\/background\?backdrop=scenery&color=%230000ff&sample=rocket$/);
  await page.reload();
  await expect(page.getByRole('radio', { name: 'Evening' })).toBeChecked();
  await expect(sample(page, 'a rocket')).toHaveAttribute('aria-pressed', 'true');
  await expect(headline(page)).toHaveText('No person found', SLOW);
  expect(complaints).toEqual([]);
});

test('digits: samples, a drawing, a file that is none, and the backend switch', async ({
  page,
  gallery,
  complaints,
}) => {
  await page.goto(`${gallery}#/digits`);
  await sample(page, 'eight, from MNIST').click();
  await expect(headline(page)).toHaveText('eight');
  const bars = await page.getByRole('list', { name: 'Likeliest classes' }).getByRole('listitem').allTextContents();
  expect(bars[0]).toContain('eight');
  expect(bars).toHaveLength(5);
  await expect(page.locator('.timings')).toContainText(/Inference\s*\d/);
  await expect(page.locator('.backend')).toContainText('WebGPU has no adapter here.');

  const pad = (await page.getByRole('application', { name: /Draw a digit here/ }).boundingBox())!;
  const at = (x: number, y: number): [number, number] => [pad.x + pad.width * x, pad.y + pad.height * y];
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.mouse.move(...at(0.5, 0.2));
  await page.mouse.down();
  await page.mouse.move(...at(0.5, 0.8), { steps: 12 });
  await page.mouse.up();
  await expect(headline(page)).toHaveText('one');

  await page
    .locator('#chooser')
    .setInputFiles({ name: 'notes.png', mimeType: 'image/png', buffer: Buffer.from('no image') });
  await expect(page.locator('#note')).toContainText('image-decode');
  await sample(page, 'three, drawn').click();
  await expect(headline(page)).toHaveText('three');

  await page.getByRole('radio', { name: 'WebGPU' }).check();
  await expect(page.locator('main')).toContainText('no-backend');
  await page.getByRole('radio', { name: 'WASM' }).check();
  await expect(page.locator('#snippet')).toContainText("backends: ['onnx/wasm', 'tfjs/wasm']");
  await sample(page, 'seven, drawn').click();
  await expect(headline(page)).toHaveText('seven');
  await expect(page.locator('.runs-on')).toHaveText(/^WASMONNX Runtime, \d threads?$/);
  await page.getByRole('radio', { name: 'TensorFlow.js' }).check();
  await expect(page.locator('.runs-on')).toHaveText(/^WASMTensorFlow\.js, \d threads?$/, SLOW);
  await sample(page, 'nine, from MNIST').click();
  await expect(headline(page)).toHaveText('nine');
  expect(complaints).toEqual([]);
});

test('language: as it is typed, and no text', async ({ page, context, gallery, complaints }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(`${gallery}#/language`);
  await expect(headline(page)).toHaveText('Portuguese', SLOW);
  const field = page.getByRole('textbox', { name: 'A sentence in any language' });
  await field.fill('');
  await expect(headline(page)).toHaveText('No result yet');
  await field.pressSequentially('Nachts schlafen die Katzen');
  await expect(headline(page)).toHaveText('German');
  // Text moves as it always does, and a file is no text.
  await field.fill('   ');
  await expect(headline(page)).toHaveText('No result yet');
  await field.evaluate((element) => {
    const data = new DataTransfer();
    data.items.add(new File(['x'], 'x.png', { type: 'image/png' }));
    element.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true }));
  });
  await expect(page.locator('#note')).toContainText('This demo takes text, not files.');
  await sample(page, 'Japanese').click();
  await expect(headline(page)).toHaveText('Japanese');
  await expect(page.locator('#note')).not.toContainText('files');
  await page.getByRole('button', { name: 'Copy result' }).click();
  await expect(page.getByRole('button', { name: 'Copied' })).toBeVisible();
  const copied = JSON.parse(await page.evaluate(() => navigator.clipboard.readText())) as readonly unknown[];
  expect(copied).toHaveLength(5);
  expect(copied[0]).toEqual({ label: 'Japanese', score: expect.any(Number) });
  await sample(page, 'taxi').click();
  await expect(headline(page)).toHaveText('Not sure');

  // The file chooser is away here, and comes back.
  await expect(page.getByRole('button', { name: 'Choose a file…' })).toBeHidden();
  await page.getByRole('link', { name: 'Digits' }).click();
  await expect(page.locator('.actions')).toHaveText(/^ClearChoose a file…$/);
  expect(complaints).toEqual([]);
});

test('on every demo the result and what it runs on are on the first screen, of a laptop and of a phone @full', async ({
  page,
  gallery,
}) => {
  for (const demo of ['detection', 'background', 'language', 'digits', 'orientation']) {
    await page.goto(`${gallery}#/${demo}`);
    await expect(page.locator(`[data-demo="${demo}"]`)).toBeVisible();
    // The sample is shown: nothing grows after that.
    await expect(page.locator('.samples [aria-pressed="true"]')).toBeVisible();
    for (const [width, height] of [
      [1280, 800],
      [390, 844],
    ] as const) {
      await page.setViewportSize({ width, height });
      for (const part of ['.input', '.samples', '.answer', '.runs-on']) {
        const box = (await page.locator(part).first().boundingBox())!;
        expect(box.y, `${demo}, ${part} at ${width}`).toBeGreaterThanOrEqual(0);
        expect(box.y + box.height, `${demo}, ${part} at ${width}`).toBeLessThanOrEqual(height);
        expect(box.x + box.width, `${demo}, ${part} at ${width}`).toBeLessThanOrEqual(width);
      }
    }
  }
});

test('each document that is opened first fits a phone: its code and tables scroll by themselves @full', async ({
  page,
  gallery,
  complaints,
}) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${gallery}#/docs`);
  const links = page.locator('.contents a');
  await expect(links.first()).toBeAttached();
  const addresses = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')!));
  expect(addresses.length).toBeGreaterThan(20);
  for (const address of addresses) {
    await page.goto(`${gallery}${address}`);
    await expect(page.locator('.contents [aria-current="page"]')).toHaveAttribute('href', address);
    expect(await page.evaluate(() => document.documentElement.scrollWidth), address).toBeLessThanOrEqual(390);
  }
  expect(complaints).toEqual([]);
});

test('reasons: a heat map over a digit, of another class, by another method; and Cancel @full', async ({
  page,
  gallery,
  complaints,
}) => {
  await page.goto(`${gallery}#/reasons?of=digit&sample=drawn-3`);
  await expect(headline(page)).toHaveText('three', SLOW);
  const red = await page.locator('.heat-layer').evaluate((canvas: HTMLCanvasElement) => {
    const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
    return data.filter((value, index) => index % 4 === 3 && value > 100).length / (data.length / 4);
  });
  expect(red).toBeGreaterThan(0.005);
  expect(red).toBeLessThan(0.3);
  await page.getByRole('combobox', { name: 'Class to explain' }).selectOption('eight');
  await expect(headline(page)).toHaveText('eight');
  await page.getByRole('radio', { name: 'RISE' }).check();
  await expect(headline(page)).toHaveText('eight');
  await expect(page).toHaveURL(/why=eight/);
  await expect(page).toHaveURL(/method=rise/);
  await expect(page.locator('#snippet')).toContainText("target: 'eight'");

  // Of a photo it takes so long that it is shown as it comes, and can be canceled.
  await page.getByRole('radio', { name: 'A photo' }).check();
  await expect(headline(page)).toHaveText('person', SLOW);
  await expect(page.locator('.heat-count')).toHaveText(/^\d+ of \d+ variants$/);
  await page.getByRole('button', { name: 'Cancel' }).click(SLOW);
  await expect(page.getByRole('button', { name: 'Explain again' })).toBeVisible();
  await expect(headline(page)).toHaveText('No result yet');
  await expect(page).toHaveURL(/#\/reasons$/);
  expect(complaints).toEqual([]);
});

test('likeness: the most alike come first, and the visitor’s own pictures @full', async ({
  page,
  gallery,
  complaints,
}) => {
  await page.goto(`${gallery}#/likeness`);
  const tiles = page.getByRole('list', { name: 'Pictures, the most alike first' }).getByRole('button');
  await expect(tiles.filter({ hasText: /0\.\d\d/ })).toHaveCount(11, SLOW);
  await page.getByRole('button', { name: 'a cup, close' }).click();
  await expect(tiles.nth(0)).toHaveAccessibleName(/a cup, close/);
  await expect(tiles.nth(1)).toHaveAccessibleName(/a cup of coffee on a table/);
  await page.getByRole('button', { name: 'a party' }).press('Enter');
  await expect(tiles.nth(0)).toHaveAttribute('aria-pressed', 'true');
  await expect(tiles.nth(0)).toBeFocused();
  await page.locator('#chooser').setInputFiles('public/models/nanodet/samples/cat.jpg');
  await expect(tiles.nth(0)).toHaveAccessibleName(/cat.jpg/);
  await expect(tiles.nth(1)).toHaveAccessibleName(/a cat 1.00/);
  await page
    .locator('#chooser')
    .setInputFiles({ name: 'notes.png', mimeType: 'image/png', buffer: Buffer.from('no image') });
  await expect(page.locator('#note')).toContainText('image-decode');
  expect(complaints).toEqual([]);
});

/** The rows of the list of the page *People*. */
const followed = (page: Page): Locator => page.getByRole('list', { name: 'Found' }).getByRole('listitem');

test('people: for visitors who want less motion, nothing plays and nothing is downloaded before a click', async ({
  page,
  gallery,
  complaints,
}) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.goto(`${gallery}#/people`);
  await expect(page.getByText('Choose a sample clip, or start the camera')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Kill the worker' })).toBeDisabled();
  expect(asked.filter((url) => /\.(onnx|bin|wasm)$/.test(url))).toEqual([]);
  expect(complaints).toEqual([]);
});

test('people: faces, hands and bodies of a clip have points and numbers, and keep them when the worker is killed @full', async ({
  page,
  gallery,
  complaints,
}) => {
  test.slow();
  await page.goto(`${gallery}#/people`);
  const kill = page.getByRole('button', { name: 'Kill the worker' });
  // It begins by itself, and the focus stays where it was.
  await expect(page.getByRole('button', { name: 'Clip: an astronaut' })).toHaveAttribute('aria-pressed', 'true');
  await expect(followed(page).first()).toContainText('468 points', SLOW);
  await expect(page.getByRole('button', { name: 'Start the camera' })).not.toBeFocused();
  // Another kind begins with a clip of its own.
  await page.getByRole('radio', { name: 'Bodies' }).check();
  await expect(followed(page).first()).toContainText('33 points', SLOW);
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await expect(page.getByRole('button', { name: 'Start the camera' })).toBeFocused();
  await expect(kill).toBeDisabled();
  for (const [kind, clip, name, points] of [
    ['Faces', 'Clip: an astronaut', 'face 1', 468],
    ['Bodies', 'Clip: Grace Hopper', 'body 1', 33],
    ['Hands', 'Clip: three people on a sofa', /^(left|right) hand \d+$/, 21],
  ] as const) {
    await page.getByRole('radio', { name: kind }).focus();
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: clip }).click();
    const names = followed(page).locator('.found-label');
    await expect(names.filter({ hasText: name }).first()).toBeVisible(SLOW);
    await expect(followed(page).first()).toContainText(`${points} points`);
    await expect(page.locator('.timings')).toContainText(/Inference\s*\d/);
    await expect(page.getByText('Round trip'), 'of a frame it is not known').toBeHidden();
    await expect(page.locator('.rate')).toHaveText(/^[\d.]+ frames\/s$/, SLOW);
    // The canvas has the frame, and over it what is drawn: the color of the first number.
    const painted = await page.locator('.layers canvas').evaluate((canvas: HTMLCanvasElement) => {
      const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d')!;
      copy.drawImage(canvas, 0, 0);
      const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
      const colors = data.filter((_, index) => index % 4 !== 3);
      let count = 0;
      for (let at = 0; at < colors.length; at += 3)
        if (colors[at] === 0x4f && colors[at + 1] === 0xd1 && colors[at + 2] === 0xa5) count += 1;
      return count;
    });
    if (kind !== 'Hands') expect(painted, kind).toBeGreaterThan(50);
  }

  await page.getByRole('radio', { name: 'Faces' }).check();
  await page.getByRole('button', { name: 'Clip: Grace Hopper' }).click();
  await expect(followed(page)).toHaveText(/face 1/, SLOW);
  // Every row that is ever shown.
  await page.evaluate(() => {
    const list = document.querySelector('.detections')!;
    const seen = new Set<string>();
    Object.assign(window, { seen });
    new MutationObserver(() => {
      for (const row of list.querySelectorAll('.found-label')) seen.add(row.textContent);
    }).observe(list, { childList: true });
  });
  await kill.click();
  await expect(page.locator('#note')).toHaveText(
    /^Another worker continued after [\d,.]+ ms\. Whoever is still there/,
    SLOW,
  );
  const answered = await page.evaluateHandle(() => {
    const list = document.querySelector('.detections')!;
    return new Promise<void>((resolve) => new MutationObserver(() => resolve()).observe(list, { childList: true }));
  });
  await answered.evaluate(async (next) => await next);
  expect(await page.evaluate(() => [...(window as unknown as { seen: Set<string> }).seen])).toEqual(['face 1']);

  await expect.poll(() => page.workers().length).toBe(1);
  await page.getByRole('link', { name: 'Serving' }).click();
  await expect(page.getByRole('heading', { name: 'Serving', level: 1 })).toBeVisible();
  await expect.poll(() => page.workers().filter((worker) => worker.url().includes('people')).length).toBe(0);
  expect(complaints).toEqual([]);
});

test('people: the camera, which is free once the page is left @full', async ({
  page,
  context,
  gallery,
  complaints,
}) => {
  await page.addInitScript(() => {
    window.cameras = [];
    const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
    navigator.mediaDevices.getUserMedia = async (constraints) => {
      const stream = await ask(constraints);
      window.cameras.push(...stream.getTracks());
      return stream;
    };
  });
  await page.goto(`${gallery}#/people?find=pose`);
  await expect(page.getByRole('radio', { name: 'Bodies' })).toBeChecked();
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByRole('button', { name: 'Start the camera' }).click();
  await expect(page.locator('#note')).toContainText('may not use the camera');
  await expect(page.getByRole('button', { name: 'Stop', exact: true })).toBeDisabled();

  await context.grantPermissions(['camera']);
  await page.getByRole('button', { name: 'Start the camera' }).click();
  await expect(page.locator('.found .headline')).toHaveText('No body found', SLOW);
  await expect(page.locator('.rate')).toHaveText(/^[\d.]+ frames\/s$/, SLOW);
  await expect(page.locator('#note')).not.toContainText('may not use the camera');
  await page.getByRole('link', { name: 'Serving' }).click();
  await expect(page.getByRole('heading', { name: 'Serving', level: 1 })).toBeVisible();
  expect(await page.evaluate(() => window.cameras.map(({ readyState }) => readyState))).toEqual(['ended']);
  await expect.poll(() => page.workers().filter((worker) => worker.url().includes('people')).length).toBe(0);
  expect(complaints).toEqual([]);
});

test('chat: an answer as JSON, a tool that must be called, and a photo for a model that reads pictures @full', async ({
  page,
  gallery,
  complaints,
}) => {
  await page.goto(`${gallery}#/chat`);
  const field = page.getByRole('textbox', { name: 'Your message' });
  const send = page.getByRole('button', { name: 'Send', exact: true });
  const answers = page.locator('.chat-answer');
  const ask = async (text: string): Promise<void> => {
    await field.fill(text);
    await field.press('Enter');
    await expect(page.locator('.chat-asked').last()).toContainText(text);
    await expect(send).toBeVisible(SLOW);
  };
  await expect(send).toBeEnabled(SLOW);
  await page.getByRole('radio', { name: 'It must call one' }).check();
  await ask('How many apples are there?');
  await expect(answers.locator('.chat-call').first()).toContainText(/^(calculate|current_time)\(.*\) → ./);
  await page.getByRole('radio', { name: 'No tools' }).check();
  await page.getByText('Answer as JSON').click();
  await page.getByRole('button', { name: 'Start over' }).click();
  await expect(answers).toHaveCount(0);
  await ask('And who is sad?');
  const said = JSON.parse((await answers.innerText()).replace('The model:', '')) as { mood: string; stars: number };
  expect(['glad', 'sad', 'curious']).toContain(said.mood);
  expect([1, 2, 3, 4, 5]).toContain(said.stars);
  await page.getByText('Answer as JSON').click();

  await expect(page.getByRole('button', { name: 'Add a photo…' })).toBeHidden();
  await page.locator('input[webkitdirectory]').setInputFiles('test/models/pictures/smolvlm');
  await page.getByRole('button', { name: 'Open it' }).click(SLOW);
  await expect(page.getByRole('status').filter({ hasText: '(image_text_to_text) runs on onnx/' })).toBeVisible(SLOW);
  await page.locator('.chat-form input[type=file]').setInputFiles('public/models/nanodet/samples/cat.jpg');
  await expect(page.getByRole('img', { name: 'The photo for your message' })).toBeVisible();
  await page.getByText('Tokens', { exact: true }).click();
  await page.getByRole('slider', { name: 'Length' }).fill('10');
  await page.getByRole('button', { name: 'Start over' }).click();
  await ask('What is in this picture?');
  await expect(page.getByRole('img', { name: 'Your photo' })).toBeVisible();
  await expect(page.getByText(/^\d+ tokens?,/)).toBeVisible(SLOW);
  expect(complaints).toEqual([]);
});

test('chat: a recording for a model that hears, and files that it does not take @full', async ({
  page,
  gallery,
  complaints,
}) => {
  await page.goto(`${gallery}#/chat`);
  const send = page.getByRole('button', { name: 'Send', exact: true });
  const chooser = page.locator('.chat-form input[type=file]');
  await expect(send).toBeEnabled(SLOW);
  await page.locator('input[webkitdirectory]').setInputFiles('test/models/sounds/voxtral');
  await page.getByRole('button', { name: 'Open it' }).click(SLOW);
  await expect(page.getByRole('status').filter({ hasText: '(audio_text_to_text) runs on onnx/' })).toBeVisible(SLOW);
  await expect(page.getByRole('button', { name: 'Add a recording…' })).toBeVisible();
  await chooser.setInputFiles('public/models/nanodet/samples/cat.jpg');
  await expect(page.locator('#note')).toHaveText(/^This model reads no pictures\./);
  await chooser.setInputFiles({ name: 'none.wav', mimeType: 'audio/wav', buffer: Buffer.from('none') });
  await expect(page.locator('#note')).toHaveText(/^This file is no sound that this browser plays\./);

  await chooser.setInputFiles('public/models/vad/samples/platform.wav');
  const next = page.getByRole('group', { name: 'The recording for your message' });
  await next.getByRole('button', { name: /^Play [\d.]+ s$/ }).click();
  await next.getByRole('button', { name: 'Stop', exact: true }).click();
  await expect(next.getByRole('button', { name: /^Play [\d.]+ s$/ })).toBeVisible();
  await page.getByText('Tokens', { exact: true }).click();
  await page.getByRole('slider', { name: 'Length' }).fill('10');
  await page.getByRole('textbox', { name: 'Your message' }).fill('What is said?');
  await send.click();
  await expect(page.getByRole('group', { name: 'Your recording' })).toBeVisible();
  await expect(next).toBeHidden();
  await expect(page.getByText(/^\d+ tokens?,/)).toBeVisible(SLOW);
  expect(complaints).toEqual([]);
});

test('writing: stopped; and when its worker is killed, it goes on with no word missing or doubled @full', async ({
  page,
  gallery,
  complaints,
}) => {
  await page.goto(`${gallery}#/writing`);
  const write = page.getByRole('button', { name: 'Write', exact: true });
  const kill = page.getByRole('button', { name: 'Kill the worker' });
  const paper = page.getByRole('region', { name: 'The text' });
  const hasBegun = async (): Promise<unknown> =>
    await page.waitForFunction(() => document.querySelector('.paper')!.textContent.length > 90, undefined, SLOW);
  await expect(write).toBeEnabled(SLOW);
  await expect(kill).toBeDisabled();
  await page.getByRole('slider', { name: 'Length' }).fill('400');
  await write.click();
  await page.getByRole('button', { name: 'Stop' }).click(SLOW);
  await expect(write).toBeFocused();

  await page.getByRole('slider', { name: 'Length' }).fill('120');
  await write.click();
  const done = page.getByText(/^120 tokens, [\d.]+ tokens\/s, the first after [\d,.]+ ms$/);
  await expect(done).toBeVisible(SLOW);
  const whole = await paper.textContent();
  await write.click();
  await hasBegun();
  await kill.click();
  await expect(page.locator('#note')).toHaveText(
    /^Another worker continued after [\d,.]+ ms\. No word is missing or doubled\.$/,
    SLOW,
  );
  await expect(done).toBeVisible(SLOW);
  expect(await paper.textContent()).toContain('✂');
  expect((await paper.textContent())!.replace('✂', ''), 'the same seed writes the same').toBe(whole);
  await expect(page).toHaveURL(/length=120/);
  expect(complaints).toEqual([]);
});

const COMMIT = '0123456789abcdef0123456789abcdef01234567';

/** Answers as huggingface.co does, with a folder as the repository org/tiny. Returns its files, and what was asked for. */
async function answerAsHub(
  page: Page,
  folder: string,
): Promise<{ readonly files: string[]; readonly asked: string[] }> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => /\.\w+$/.test(path));
  const asked: string[] = [];
  await page.context().route('https://huggingface.co/**', async (route) => {
    const { pathname } = new URL(route.request().url());
    asked.push(pathname);
    const headers = { 'Access-Control-Allow-Origin': '*' };
    if (pathname === '/api/models/org/tiny/revision/main')
      return await route.fulfill({
        headers,
        json: {
          sha: COMMIT,
          siblings: files.map((path) => ({ rfilename: path, size: statSync(folder + path).size, blobId: path })),
        },
      });
    const path = pathname.replace(/^\/org\/tiny\/resolve\/[^/]+\//, '');
    await route.fulfill(files.includes(path) ? { headers, path: folder + path } : { headers, status: 404 });
  });
  return { files, asked };
}

test('writing: a repository of Hugging Face says its size first, and is opened when the visitor wants it @full', async ({
  page,
  built,
  complaints,
}) => {
  const policy = `${HOST.policy}; connect-src 'self' https://huggingface.co https://*.hf.co`;
  await using site = await serve([built], { ...HOST, policy });
  const folder = 'test/models/generation/qwen3/';
  const { files, asked } = await answerAsHub(page, folder);
  await page.goto(`${site.origin}/#/writing`);
  await expect(page.getByRole('button', { name: 'Write', exact: true })).toBeEnabled(SLOW);
  expect(asked).toEqual([]);
  const field = page.getByLabel('Repository of Hugging Face');
  const size = page.getByRole('button', { name: 'Show its size' });
  await field.fill('tiny');
  await size.click();
  await expect(page.getByText('Write a repository as ORG/NAME')).toBeVisible();
  await field.fill('org/other');
  await size.click();
  await expect(page.getByText('huggingface.co has no public repository org/other.')).toBeVisible();
  await field.fill('https://huggingface.co/org/tiny');
  await size.click();
  const total = files.reduce((sum, path) => sum + statSync(folder + path).size, 0);
  const download = page.getByRole('button', { name: `Download ${Math.round(total / 1e3)} kB` });
  await expect(download).toBeVisible();
  await expect(page.getByText('the download is from huggingface.co')).toBeVisible();
  expect(asked.filter((path) => path.includes('/resolve/'))).toEqual([]);
  await download.click();
  await expect(page.getByRole('status').filter({ hasText: /^org\/tiny \(fp32, \d+ kB\) runs on/ })).toBeVisible(SLOW);
  await page.getByRole('radio', { name: 'A message to answer' }).check();
  await page.getByRole('slider', { name: 'Length' }).fill('10');
  await page.getByRole('button', { name: 'Write', exact: true }).click();
  await expect(page.getByText(/^\d+ tokens?,/)).toBeVisible(SLOW);
  await page.getByRole('button', { name: 'Back to our model' }).click();
  await expect(page.getByText('4.8 million weights')).toBeVisible(SLOW);
  // The repository that is not there is in the browser's log.
  expect(complaints.filter((line) => !line.includes('404'))).toEqual([]);
});

/** Opens a folder of the tests' repositories on the page of a model, and waits for its first answer. @returns it in JSON */
async function openFolder(page: Page, repository: string, handler: string, photo?: string): Promise<unknown> {
  const folder = repository.includes('/') ? repository : `tasks/${repository}`;
  await page.locator('input[webkitdirectory]').setInputFiles(`test/models/${folder}`);
  await expect(page.getByRole('list', { name: 'Models' })).toHaveText(/onnx\/\w+\.onnx: \d+ kB/);
  await page.getByRole('button', { name: 'Open it' }).click();
  await expect(page.getByRole('status').filter({ hasText: `${handler} runs on onnx/` })).toBeVisible(SLOW);
  if (photo !== undefined) await sample(page, photo).click();
  return await answerOf(page);
}

/** Returns the answer that a page of a model shows, as its JSON. */
async function answerOf(page: Page): Promise<unknown> {
  await expect(page.locator('#note')).toHaveText(/^Answered in [\d.,]+ ms\.$/, SLOW);
  return JSON.parse((await page.locator('[aria-label="Answer as JSON"]').textContent())!) as unknown;
}

/** The first request to a repository that `test/models/tasks/make` asked transformers, and its answer. */
function expected(
  handler: string,
  repository: string,
  at: number,
): { readonly input: unknown; readonly params: unknown; readonly answer: readonly object[] } {
  const { rows } = JSON.parse(readFileSync(`test/models/tasks/${handler}.json`, 'utf8'));
  return rows.find((row: { repository: string }) => row.repository === repository).requests[at];
}

test('any model: the suggestions of a task come first, and each task has its own fields and its own answer', async ({
  page,
  gallery,
  complaints,
}) => {
  const visit = async (task: string, title: string): Promise<void> => {
    await page.goto(`${gallery}#/any?for=${task}`);
    await expect(page.locator('.suggestions > span').first()).toHaveText(title);
  };
  const run = page.getByRole('button', { name: 'Run', exact: true });
  await visit('depth', 'How far things are');
  await expect(run).toBeHidden();
  const depth = (await openFolder(page, 'depth-anything', 'depth_estimator')) as { min: number; max: number };
  await expect(page.locator('.depth-scale')).toHaveText(
    [depth.min, depth.max].map((value) => value.toPrecision(3)).join(''),
  );
  const [red, green, , opacity] = await drawn(page, 0.5, 0.5);
  expect([green, opacity]).toEqual([red, 255]);
  await sample(page, 'a rocket').click();
  await expect.poll(() => answerOf(page)).not.toEqual(depth);

  await visit('entities', 'Names in a text');
  await openFolder(page, 'tokens-bert', 'token_classifier');
  const tokens = expected('token_classifier', 'tokens-bert', 0);
  await page.getByText('Params', { exact: true }).click();
  await page.getByLabel('Params, as JSON').fill(JSON.stringify(tokens.params));
  await page.getByLabel('Text', { exact: true }).fill(tokens.input as string);
  await run.click();
  await expect(page.locator('.headline')).toHaveText(`${tokens.answer.length} entities`);
  const marks = page.locator('mark');
  await expect(marks).toHaveText(
    tokens.answer.map((one) => {
      const { start, end, label } = one as { start: number; end: number; label: string };
      return (tokens.input as string).slice(start, end) + label;
    }),
  );

  await visit('questions', 'Answers in a text');
  await openFolder(page, 'answer-bert', 'question_answerer');
  const asked = expected('question_answerer', 'answer-bert', 0);
  const { question, context } = asked.input as { question: string; context: string };
  await page.getByLabel('Text', { exact: true }).fill(context);
  await page.getByLabel('Question').fill(question);
  await page.getByLabel('Question').press('Enter');
  const [best] = asked.answer as readonly { answer: string }[];
  await expect(page.locator('.top-name')).toHaveText(best!.answer);
  await expect(page.locator('mark')).toHaveText(`${best!.answer}answer`);

  await visit('search', 'Find photos by words');
  const found = (await openFolder(page, 'embed-clip', 'image_text_embedder')) as { name: string; score: number }[];
  const photos = page.getByRole('list', { name: 'Photos, the best first' }).getByRole('img');
  const names = async (): Promise<(string | null)[]> =>
    await photos.evaluateAll((all) => all.map((one) => one.getAttribute('alt')));
  expect(await names()).toEqual(found.map(({ name }) => name));
  expect(found.map(({ score }) => score)).toEqual(found.map(({ score }) => score).toSorted((a, b) => b - a));
  await page.locator('#chooser').setInputFiles('public/models/nanodet/samples/grace-hopper.jpg');
  await expect(photos).toHaveCount(found.length + 1);
  await answerOf(page);
  expect(await names()).toContain('grace-hopper.jpg');

  // A model of another task says what is wrong with it.
  await page.goto(`${gallery}#/cut-out`);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Cut-out');
  await page.locator('input[webkitdirectory]').setInputFiles('test/models/tasks/tokens-bert');
  await page.getByRole('button', { name: 'Open it' }).click();
  await expect(page.getByText(/^(model-config|model-not-found): .*preprocessor_config\.json/)).toBeVisible(SLOW);
  expect(complaints).toEqual([]);
});

test('Any model asks a model that reads pictures about a photo @full', async ({ page, gallery, complaints }) => {
  await page.goto(`${gallery}#/any`);
  const first = (await openFolder(page, 'pictures/smolvlm', 'image_text_to_text')) as { text: string };
  await page.getByLabel('Question', { exact: true }).fill('Describe it.');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect.poll(() => answerOf(page)).not.toEqual(first);
  await expect(page.locator('.headline')).toHaveText(/^\d+ tokens?/);
  await expect(page.locator('#code code, code').first()).toContainText("type: 'image', image: document.querySelector");
  expect(complaints).toEqual([]);
});

test('cut-out: the gallery’s own model at once, over a color, and another model @full', async ({
  page,
  gallery,
  complaints,
}) => {
  await page.goto(`${gallery}#/cut-out`);
  await expect(page.locator('.top-share')).toHaveText(/^\d\d\.\d% is left$/, SLOW);
  await page.getByLabel('Color of the background').fill('#0000ff');
  // The wall beside her, and her face.
  const [red, , blue] = await drawn(page, 0.68, 0.08);
  expect(blue! - red!).toBeGreaterThan(180);
  const face = await drawn(page, 0.45, 0.25);
  expect(face[0]).toBeGreaterThan(face[2]!);
  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download PNG, transparent' }).click();
  expect((await saving).suggestedFilename()).toBe('tabserve-cut-out.png');
  await expect(page.locator('#snippet')).toContainText("load('/models/selfie/model.onnx'");
  await openFolder(page, 'background-modnet', 'background_remover');
  await expect(page.locator('#snippet')).toContainText('picker.files!');
  expect(complaints).toEqual([]);
});

test('click: the object in the middle first, then what is clicked, with the mouse and with the keyboard @full', async ({
  page,
  gallery,
  complaints,
}) => {
  await page.goto(`${gallery}#/any?for=click`);
  const target = page.getByRole('application', { name: 'Click an object.' });
  await openFolder(page, 'prompt-sam', 'promptable_segmenter');
  await expect(sample(page, 'an astronaut')).toHaveAttribute('aria-pressed', 'true');
  await expect(page.locator('.click-mark')).toHaveCount(1);
  await page.getByRole('radio', { name: 'Not part of it' }).check();
  await target.click({ position: { x: 20, y: 30 } });
  await expect(page.locator('.click-mark[data-kind="out"]')).toHaveCount(1);
  await answerOf(page);
  await target.focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await expect(page.locator('.click-mark')).toHaveCount(3);
  await answerOf(page);
  await expect(page.locator('.top-name')).toHaveText(/masks?$/);
  await page.getByRole('button', { name: 'Remove the points' }).click();
  await expect(page.locator('.click-mark')).toHaveCount(0);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(page.getByText('Click an object in the photo first.')).toBeVisible();
  expect(complaints).toEqual([]);
});

test('any model: a folder shows what it has, and its handler and its fields follow from its files', async ({
  page,
  gallery,
  complaints,
}) => {
  await page.goto(`${gallery}#/any`);
  expect(await openFolder(page, 'zero-shot-bert', 'zero_shot_text_classifier')).toEqual(
    expect.arrayContaining([{ label: 'sports', score: expect.any(Number) }]),
  );
  expect(await openFolder(page, 'image-vit', 'image_classifier')).toHaveLength(5);
  // What was opened before is not there any more; a wrong input says what to do.
  await page.getByText('Params', { exact: true }).click();
  await page.getByLabel('Params, as JSON').fill('{');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(page.getByText('The params must be JSON')).toBeVisible();

  // A folder is dropped, as the browser's own event has it.
  const browser = await page.context().newCDPSession(page);
  const data = { items: [], files: [resolve('test/models/tasks/answer-bert')], dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await browser.send('Input.dispatchDragEvent', { type, x: 300, y: 300, data });
  await expect(page.getByText('answer-bert: BertForQuestionAnswering')).toBeVisible();
  // What load would do, before the model is opened.
  const here = page.getByRole('list', { name: 'On this device' });
  await expect(here).toContainText('Handler: question_answerer.', SLOW);
  await expect(here).toContainText(
    /Backend: onnx\/\w+ in fp32, [\d.]+ kB to download, about 8\d(\.\d)? MB of memory\./,
  );
  await page.getByRole('button', { name: 'Open it' }).click();
  await expect(page.getByRole('status').filter({ hasText: 'question_answerer runs on onnx/' })).toBeVisible(SLOW);
  expect(await answerOf(page)).toHaveLength(3);
  expect(complaints).toEqual([]);
});

test('any model: fields and an answer for each task @full', async ({ page, gallery, complaints }) => {
  const ofTasks = readdirSync('test/models/tasks').filter((name) => name.endsWith('.json'));
  expect(ofTasks.length).toBeGreaterThan(17);
  await page.goto(`${gallery}#/any`);
  for (const name of ofTasks) {
    const { handler, rows } = JSON.parse(readFileSync(`test/models/tasks/${name}`, 'utf8'));
    // openWakeWord's files are no repository: a config says which is which.
    if (handler === 'keyword_spotter') continue;
    // The graph of this one is for photos that are one and a half times as wide as high.
    await openFolder(page, rows[0].repository, handler, handler === 'instance_segmenter' ? 'a cat' : undefined);
    await expect(page.locator('.answer > *'), handler).toBeVisible();
    await expect(page.locator('.answer .headline').first(), handler).not.toHaveText('No result yet');
  }
  expect(complaints).toEqual([]);
});

test('any model: of a repository of Hugging Face, the list of its files is asked for first @full', async ({
  page,
  built,
  complaints,
}) => {
  const policy = `${HOST.policy}; connect-src 'self' https://huggingface.co https://*.hf.co`;
  await using site = await serve([built], { ...HOST, policy });
  const { asked } = await answerAsHub(page, 'test/models/tasks/rerank-bert/');
  await page.goto(`${site.origin}/#/any`);
  await page.getByLabel('Repository of Hugging Face').fill('org/tiny');
  expect(asked).toEqual([]);
  await page.getByRole('button', { name: 'Show what it has' }).click();
  await expect(page.getByText('org/tiny: BertForSequenceClassification')).toBeVisible();
  expect(asked.filter((path) => path.endsWith('.onnx'))).toEqual([]);
  await page.getByRole('button', { name: 'Open it' }).click();
  await expect(page.getByRole('status').filter({ hasText: 'text_reranker runs on onnx/' })).toBeVisible(SLOW);
  expect(await answerOf(page)).toEqual(expect.arrayContaining([{ index: 0, score: expect.any(Number) }]));
  expect(complaints).toEqual([]);
  await page.getByRole('group', { name: 'Texts by meaning' }).getByRole('button').first().click();
  await expect.poll(() => asked).toContain('/api/models/sentence-transformers/all-MiniLM-L6-v2/revision/main');
});

test('upscaling: beside the browser’s own enlargement; a large photo is scaled down first @full', async ({
  page,
  gallery,
  complaints,
}) => {
  await page.goto(`${gallery}#/upscaling`);
  await expect(headline(page)).toHaveText('256 × 256 → 512 × 512', SLOW);
  const slider = page.getByRole('slider', { name: 'Compare browser and model' });
  await slider.fill('20');
  await expect(slider).toHaveAttribute('aria-valuetext', 'browser on the left 20 %');
  expect((await drawn(page, 0.5, 0.5))[3]).toBe(255);
  await sample(page, 'a cup of coffee').click();
  await expect(headline(page)).toHaveText('160 × 120 → 320 × 240', SLOW);
  await page.locator('#chooser').setInputFiles('public/models/nanodet/samples/cat.jpg');
  await expect(headline(page)).toHaveText('256 × 170 → 512 × 340', SLOW);
  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download PNG' }).click();
  expect((await saving).suggestedFilename()).toBe('tabserve-enlarged.png');
  expect(complaints).toEqual([]);
});

test('text in photos: the lines in a list, and over the photo, where they can be selected @full', async ({
  page,
  gallery,
  complaints,
}) => {
  await page.goto(`${gallery}#/text`);
  await expect(headline(page)).toHaveText('2 lines', SLOW);
  await sample(page, 'a receipt').click();
  await expect(headline(page)).toHaveText('13 lines', SLOW);
  await sample(page, 'a sign').click();
  await expect(headline(page)).toHaveText('2 lines', SLOW);
  await expect(page.getByRole('list', { name: 'Lines of text' }).getByRole('listitem')).toHaveText([
    /^Platform 9/,
    /^Trains to Cambridge/,
  ]);
  await expect(page.getByText(/Find .* ms · Orient .* ms · Read .* ms/)).toBeVisible();
  const line = page.locator('.text-layer text').first();
  await line.dblclick();
  expect(await page.evaluate(() => String(getSelection()))).toMatch(/Platform|9/);
  const readable = page.getByRole('button', { name: 'Show the text' });
  await readable.press('Enter');
  await expect(readable).toHaveAttribute('aria-pressed', 'true');
  expect(complaints).toEqual([]);
});

test('text orientation @full', async ({ page, gallery, complaints }) => {
  await page.goto(`${gallery}#/orientation`);
  await expect(headline(page)).toContainText('upside down', SLOW);
  await sample(page, 'label, upright').click();
  await expect(headline(page)).toContainText('upright');
  expect(complaints).toEqual([]);
});

test('speech: a recording, its words, who says them, a file that is no audio, and the microphone @full', async ({
  page,
  gallery,
  complaints,
  context,
}) => {
  await context.grantPermissions(['microphone']);
  await page.goto(`${gallery}#/speech`);
  const words = page.getByRole('region', { name: 'What is said' });
  await expect(page.locator('.top-share')).toHaveText('8.1 s of 13.9 s', SLOW);
  await expect(words).toContainText('The train to Burn leaves at 10');
  await words.getByRole('button', { name: 'platform' }).press('Enter');
  // It begins there; a slow machine sees a later word.
  await expect(words.locator('[aria-current]')).toHaveText(
    /^(platform|4\.|Please|mind|the|gap\.|Pass|in|just|for|Geneva,|change|at|low|land\.)$/,
  );
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await expect(words.locator('[aria-current]')).toHaveCount(0);

  await page.getByRole('slider', { name: 'Threshold' }).fill('0.95');
  await expect(page.locator('.top-share')).not.toHaveText('8.1 s of 13.9 s');
  await sample(page, 'Two voices and a fan').click();
  await expect(words).toContainText('the fan I think it rattles');

  // Only what this page can open.
  await expect(page.locator('select[aria-label="Handler"] option')).toHaveCount(4);
  const opens = async (folder: string, says: string): Promise<void> => {
    await page.locator('input[webkitdirectory]').setInputFiles(`test/models/tasks/${folder}`);
    await page.getByRole('button', { name: 'Open it' }).click(SLOW);
    await expect(page.getByRole('list', { name: 'Models in use' })).toContainText(`${folder} (${says}`, SLOW);
  };
  await opens('write-whisper-words', 'speech_to_text) transcribes');
  await expect(words).not.toContainText('the fan', SLOW);
  await opens('diarize-alone', 'speaker_diarizer) says who speaks');
  await expect(words.getByText(/^Speaker \d$/).first()).toBeVisible(SLOW);

  await page
    .getByLabel('Audio file')
    .setInputFiles({ name: 'a.mp3', mimeType: 'audio/mpeg', buffer: Buffer.from('no') });
  await expect(page.locator('#note')).toContainText('could not be decoded');

  // The microphone beeps, once a second.
  await page.getByRole('button', { name: 'Start the microphone' }).click();
  await expect(headline(page)).toHaveText(/Speech|Silence/);
  await expect(page.locator('.top-share')).toHaveText(/%/);
  await expect(page.locator('.code pre')).toContainText('audioChunks(track!)');
  await expect(words.getByRole('button').or(words.locator('.unsure:not(:empty)')).first()).toBeVisible(SLOW);
  await page.getByRole('button', { name: 'Stop the microphone' }).click();
  // What was said can be heard.
  await expect(page.getByRole('button', { name: 'Play', exact: true })).toBeEnabled(SLOW);
  await expect(words.getByRole('button').first()).toBeVisible(SLOW);
  expect(complaints).toEqual([]);
});

test('voices: the recorded sentence, and a voice of one’s own, sentence by sentence, as a file @full', async ({
  page,
  gallery,
  complaints,
}) => {
  await page.goto(`${gallery}#/voices`);
  const words = page.getByRole('region', { name: 'What is said' });
  await expect(words).toHaveText(/Hello there/);
  await page.getByRole('button', { name: 'Speak' }).click();
  await expect(words.locator('[aria-current]')).toHaveText('Hello there.');
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(words.locator('[aria-current]')).toHaveCount(0);
  const text = page.getByRole('textbox', { name: 'The text' });
  const download = page.getByRole('button', { name: 'Download as WAV' });
  await expect(download).toBeEnabled();
  await text.fill('hello. how are you?');
  await expect(download).toBeDisabled();
  await page.getByRole('button', { name: 'Speak' }).click();
  await expect(page.locator('#note')).toContainText('No voice is open.');

  await page.locator('input[webkitdirectory]').setInputFiles('test/models/tasks/speak-speecht5');
  await page.getByRole('button', { name: 'Open it' }).click(SLOW);
  await expect(page.getByRole('status').filter({ hasText: 'speak-speecht5 (text_to_speech) runs on' })).toBeVisible(
    SLOW,
  );
  await page.getByRole('button', { name: 'Speak' }).click();
  await expect(page.getByText(/^You heard the first sentence after [\d.]+ s, all of it after/)).toBeVisible(SLOW);
  await expect(words.getByRole('button')).toHaveText(['hello.', 'how are you?']);
  const saved = page.waitForEvent('download');
  await download.click(SLOW);
  const file = readFileSync(await (await saved).path());
  expect(file.subarray(0, 4).toString()).toBe('RIFF');
  expect(complaints).toEqual([]);
});

test('backends: a report card of this device, a link to it, and a model of one’s own @full', async ({
  page,
  gallery,
  complaints,
}) => {
  await page.goto(`${gallery}#/backends?model=digits`);
  const report = page.locator('.report');
  const row = (candidate: string): Locator => report.locator(`[data-candidate="${candidate}"]`);
  const run = async (): Promise<void> => {
    await report.getByRole('button', { name: 'Run', exact: true }).click();
    await expect(report.getByRole('button', { name: 'Run again' })).toBeVisible({ timeout: 120_000 });
  };
  await run();
  await expect(report.getByRole('heading', { level: 2 })).toContainText('is the fastest');
  for (const engine of ['onnx', 'tfjs']) {
    await expect(row(`${engine}/wasm`)).toContainText(/[\d.]+ ms.*Reference/);
    await expect(row(`${engine}/webgpu`)).toContainText('WebGPU has no adapter here.');
  }
  // Plain JavaScript adds up in another order than WebAssembly, and is right.
  await expect(row('tfjs/cpu')).toContainText(/Right (no difference|largest error)/);
  await report.getByText('The log of each backend: diagnose()').click();
  await expect(report.getByLabel('Diagnosis')).toContainText('tfjs/cpu runs');

  const ranking = (): Promise<string[]> => report.locator('.ranks .rank-name').allTextContents();
  const ranked = await ranking();
  await report.getByRole('button', { name: 'Copy a link' }).click();
  await page.goto(await report.getByLabel('Link to this card').inputValue());
  await expect(report).toContainText('A shared card');
  expect(await ranking()).toEqual(ranked);
  await expect(row('tfjs/cpu')).toContainText(/[\d.]+ ms.*Right/);
  await expect(report.getByRole('button', { name: 'Run on this device' })).toBeVisible();
  await page.goto(`${gallery}#/backends?card=W10`);
  await expect(report).toContainText('This link contains no report card');

  await report
    .locator('#lab-chooser')
    .setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no model') });
  await expect(report).toContainText('notes.txt is not an .onnx file.');
  await report
    .locator('#lab-chooser')
    .setInputFiles(fileURLToPath(new URL('../models/hardsigmoid.onnx', import.meta.url)));
  await expect(report.getByRole('region', { name: 'The model’s file' })).toContainText('HardSigmoid');
  await expect(row('onnx/webgl')).toContainText('Not among its operators and types: HardSigmoid.');
  await run();
  await expect(row('onnx/wasm')).toContainText('Reference');
  await expect(row('onnx/webgl')).not.toContainText('Right');
  expect(complaints).toEqual([]);
});

test('backends: a video outlives its worker @full', async ({ page, gallery, complaints }) => {
  // On the first page, in `gallery-shell.spec.ts`, a worker is ended too.
  await page.goto(`${gallery}#/backends?model=digits`);
  const running = page.getByRole('region', { name: 'Recovery' });
  const counter = async (name: string): Promise<number> =>
    Number((await running.locator(`[data-counter="${name}"] dd`).textContent())!.replaceAll(',', ''));
  await running.getByRole('button', { name: 'Start a sample video' }).click();
  await running.getByRole('button', { name: 'End the worker' }).click(SLOW);
  await expect(running.getByRole('log')).toContainText('Recovered on', SLOW);
  const [answered, shown] = [await counter('answered'), await counter('shown')];
  await expect.poll(() => counter('answered'), SLOW).toBeGreaterThan(answered + 3);
  expect(await counter('shown')).toBeGreaterThan(shown);
  await expect(running.getByRole('button', { name: 'End the worker' })).toBeFocused();
  expect(await counter('recovered')).toBe(1);
  expect(await counter('failed')).toBe(0);

  await page.getByRole('link', { name: 'Digits' }).click();
  await expect(running).toBeHidden();
  await sample(page, 'eight, from MNIST').click();
  await expect(headline(page)).toHaveText('eight', SLOW);
  expect(complaints).toEqual([]);
});

test('serving: past its capacity the queue is full and refuses, and it recovers; the capacity holds still; timeouts, settings, Prometheus @full', async ({
  page,
  gallery,
  complaints,
  full,
}) => {
  await page.goto(`${gallery}#/serving`);
  const load = page.getByRole('slider', { name: 'Load' });
  const verdict = page.locator('.verdict');
  const meter = (name: string): Locator => page.locator(`[data-counter="${name}"] dd`);
  const part = (name: string): Locator => page.getByRole('region', { name });
  const sent = async (): Promise<string> => (await load.getAttribute('aria-valuetext'))!;
  await expect(load).toBeEnabled(SLOW);
  expect(await sent()).toMatch(/^[\d.,]+ requests a second, 0\.5 × capacity$/);
  await expect(part('Engine and backend')).toContainText('WebGPU has no adapter here.');
  await expect(verdict).toHaveAttribute('data-level', 'calm', SLOW);
  await expect(verdict).toContainText('All requests are answered', SLOW);
  await expect(meter('backend')).toHaveText('onnx/wasm');

  await page.getByRole('button', { name: 'Overload, 3 ×' }).click();
  // Other programs may have kept it from what it can do.
  await expect(async () => {
    const isFull = expect(meter('queue')).toHaveText('100 of 100', { timeout: 6000 });
    await isFull.catch(() => page.getByRole('button', { name: 'Measure the capacity again' }).click());
    await isFull;
  }).toPass(SLOW);
  const overload = await sent();
  expect(overload).toMatch(/, 3 × capacity$/);
  await expect(verdict).toContainText(
    /The queue is full, so [\d.,]+ a second are refused at once with queue-full\. 99 % of the answers take at most [\d.,]+ ms/,
    SLOW,
  );
  await part('More measurements').getByText('More measurements').click();
  const stages = page.getByRole('table', { name: 'Latency by stage' });
  for (const stage of ['Queue', 'Preprocess', 'Inference', 'Postprocess', 'Total'])
    await expect(stages.getByRole('row', { name: stage })).toContainText(/(\d ms){1}.*(\d ms){1}.*\d ms$/);
  await expect(page.locator('.plot').filter({ hasText: 'Batch sizes' })).toContainText('most common 8');

  // What waits for other loads is in `npm run test:full`.
  if (full) {
    await page.getByRole('button', { name: 'Gentle' }).click();
    await expect(meter('refused')).toHaveText('0/s', SLOW);
    await expect(verdict).toHaveAttribute('data-level', 'calm', SLOW);
    await page.getByRole('button', { name: 'Overload, 3 ×' }).click();
  }

  // A setting changes what is answered, and neither the capacity nor the load.
  await part('Settings').getByText('Settings', { exact: true }).click();
  await page.getByRole('slider', { name: 'Maximum batch size' }).press('Home');
  await page.getByRole('slider', { name: 'Queue size' }).press('Home');
  await expect(meter('queue')).toHaveText('1 of 1', SLOW);
  await expect(page.locator('.plot').filter({ hasText: 'Batch sizes' })).toContainText('mean 1.0', SLOW);
  expect(await sent()).toBe(overload);

  await part('Prometheus').getByText('Prometheus', { exact: true }).click();
  await part('Prometheus').getByRole('button', { name: 'Show' }).click();
  const text = (await page.getByLabel('Prometheus text').textContent())!;
  for (const outcome of ['ok', 'queue-full'])
    expect(text).toMatch(new RegExp(`^ts_inference_requests_total\\{.*outcome="${outcome}"\\} [1-9]`, 'm'));

  // The address holds the settings; who waits behind hundreds is too late.
  expect(page.url()).toContain('?load=3&batchSize=1&jobQueueSize=1');
  if (full) {
    await page.goto(`${gallery}#/serving?load=3&jobQueueSize=500&deadline=25`);
    await expect(part('Code')).toContainText('{ timeout: 25 }');
    await expect(verdict).toContainText('fail with timeout after 25 ms', SLOW);
    expect(await sent()).toMatch(/, 3 × capacity$/);
  }
  await page.getByRole('button', { name: 'Pause' }).click();
  await expect(verdict).toHaveText('Paused: no requests are sent.', SLOW);

  await page.getByRole('link', { name: 'Digits' }).click();
  await sample(page, 'eight, from MNIST').click();
  await expect(headline(page)).toHaveText('eight', SLOW);
  expect(complaints).toEqual([]);
});

test('with the keyboard alone, on a phone @full', async ({ page, context, gallery, complaints }) => {
  await context.grantPermissions(['camera']);
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(`${gallery}#/detection`);
  const fits = async (): Promise<void> =>
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
  const visit = async (title: string): Promise<void> => {
    await tabTo(page, page.getByRole('link', { name: title, exact: true }));
    await page.keyboard.press('Enter');
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(title);
  };

  await tabTo(page, sample(page, 'a cup of coffee'));
  await page.keyboard.press('Enter');
  await expect(found(page).first()).toContainText('dining table', SLOW);
  await tabTo(page, page.getByRole('slider', { name: 'Confidence threshold' }));
  await page.keyboard.press('End');
  await expect(page.locator('.found .headline')).toHaveText('No object found');
  await tabTo(page, page.getByRole('radio', { name: 'Auto' }));
  await page.keyboard.press('ArrowLeft');
  await expect(page.getByRole('radio', { name: 'WASM' })).toBeChecked();
  await expect(page.locator('.runs-on')).toContainText('WASM', SLOW);
  await page.keyboard.press('ArrowRight');
  await tabTo(page, page.getByRole('button', { name: 'Start the camera' }));
  await page.keyboard.press('Enter');
  await expect(page.locator('.rate')).toHaveText(/frames/, SLOW);
  await page.keyboard.press('Enter');
  await expect(page.locator('.rate')).toBeHidden();
  await fits();

  await visit('Background');
  await expect(headline(page)).toHaveText('Person', SLOW);
  await tabTo(page, page.getByRole('radio', { name: 'Blur' }));
  await page.keyboard.press('ArrowLeft');
  await expect(page.getByRole('radio', { name: 'Mask' })).toBeChecked();
  const split = page.getByRole('slider', { name: 'Compare before and after' });
  await tabTo(page, split);
  await page.keyboard.press('Home');
  await expect(split).toHaveAttribute('aria-valuetext', 'before on the left 0 %');
  await page.keyboard.press('ArrowRight');
  await expect(page.locator('.layers canvas')).toHaveCSS('clip-path', 'inset(0px 0px 0px 1%)');
  await fits();

  await visit('Language');
  await expect(headline(page)).toHaveText('Portuguese', SLOW);
  await tabTo(page, page.getByRole('textbox'));
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.type('Yesterday we went to the cinema');
  await expect(headline(page)).toHaveText('English');
  await fits();

  await visit('Digits');
  await tabTo(page, page.getByRole('radio', { name: 'Any' }));
  await page.keyboard.press('ArrowLeft');
  await expect(page.locator('.runs-on')).toContainText('TensorFlow.js', SLOW);
  await tabTo(page, sample(page, 'nine, from MNIST'));
  await page.keyboard.press('Enter');
  await expect(headline(page)).toHaveText('nine');
  // The first stroke replaces the sample. The pen starts in the middle of the upper half.
  await tabTo(page, page.getByRole('application', { name: 'Draw a digit here' }));
  await page.keyboard.press('Space');
  for (let step = 0; step < 14; step++) await page.keyboard.press('ArrowDown');
  await expect(headline(page)).toHaveText('one');
  await expect(sample(page, 'nine, from MNIST')).toHaveAttribute('aria-pressed', 'false');
  await page.keyboard.press('Delete');
  await expect(headline(page)).toHaveText('No result yet');
  await fits();

  await visit('Backends');
  await tabTo(page, page.getByRole('button', { name: 'Run', exact: true }));
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: 'Cancel' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.locator('.report')).toContainText('Canceled.');
  await fits();

  await visit('Serving');
  await expect(page.getByRole('slider', { name: 'Load' })).toBeEnabled(SLOW);
  await tabTo(page, page.getByRole('button', { name: 'Overload' }));
  await page.keyboard.press('Enter');
  await expect(page.locator('.verdict')).toHaveAttribute('data-level', /busy|overload/, SLOW);
  await tabTo(page, page.getByRole('button', { name: 'Pause' }));
  await page.keyboard.press('Enter');
  await expect(page.locator('.verdict')).toHaveText('Paused: no requests are sent.', SLOW);
  await fits();

  await visit('Orientation');
  await tabTo(page, page.getByRole('button', { name: 'Turn by 180°' }));
  await page.keyboard.press('Enter');
  await expect(headline(page)).toContainText('upright', SLOW);
  await fits();
  expect(complaints).toEqual([]);
});

test('the opening bar is as wide as its column, however long the texts above it are', async ({ page }) => {
  await page.setContent(`
    <div class="column" style="width: 200px"><div class="load" data-state="loading"><div class="loading">
      <p class="load-line"><span class="load-what">Opening on TensorFlow.js, WebGL…</span><span class="load-amount">12.4 MB</span></p>
      <progress></progress>
    </div></div></div>`);
  for (const name of ['page', 'result']) await page.addStyleTag({ path: `demo/styles/${name}.css` });
  const widths = await page.evaluate(() =>
    ['progress', '.load-line', '.column'].map((name) => document.querySelector(name)!.getBoundingClientRect().width),
  );
  expect(widths).toEqual([200, 200, 200]);
});

test('fetch: a client that knows only fetch is answered by this tab, by another one, and by a swapped model; nobody is never @full', async ({
  page,
  context,
  gallery,
  complaints,
}) => {
  const count = (who: string): Locator => page.locator(`[data-who="${who}"] dd`);
  const more = async (who: string): Promise<void> => {
    const before = await count(who).textContent();
    await expect(count(who)).not.toHaveText(before!, SLOW);
  };
  await page.goto(`${gallery}#/fetch`);
  await expect(count('here')).not.toHaveText('0', SLOW);
  await expect(page.locator('.strip-last')).toHaveText(/^\w+, \d+\.\d% · This tab · [\d.,]+ ms$/);

  const opening = context.waitForEvent('page');
  await page.getByRole('button', { name: 'Open a hosting tab' }).click();
  const other = await opening;
  await expect(other.getByText('It hosts version 1.0')).toBeVisible(SLOW);
  await page.getByRole('button', { name: 'Stop hosting' }).click();
  await more('tab');

  await page.getByRole('button', { name: 'Host the model here' }).click();
  await expect(page.getByText('It hosts version 1.0')).toBeVisible(SLOW);
  await page.getByRole('button', { name: 'Swap the model' }).click();
  await expect(page.getByText('It hosts version 2.0 of the model, on tfjs/')).toBeVisible(SLOW);
  await other.close();
  await more('here');
  await page.getByRole('radio', { name: 'device-only' }).check();
  await more('here');
  await expect(page.getByRole('log')).toContainText('The policy is device-only.');
  await expect(count('nobody')).toHaveText('0');
  await expect(count('server')).toHaveText('0');
  await page.getByText('Code', { exact: true }).click();
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  expect(complaints).toEqual([]);
});

test('after one visit, the gallery and the models that were opened work with the network off @full', async ({
  page,
  context,
  built,
}) => {
  const site = await serve([built], HOST);
  await page.goto(`${site.origin}/#/digits`);
  await sample(page, 'eight, from MNIST').click();
  await expect(headline(page)).toHaveText('eight', SLOW);
  await page.getByRole('link', { name: 'Language' }).click();
  await expect(headline(page)).toHaveText('Portuguese', SLOW);
  await page.evaluate(() => navigator.serviceWorker.ready);

  await context.setOffline(true);
  await site[Symbol.asyncDispose]();
  await page.goto(`${site.origin}/#/language`);
  await page.reload();
  await expect(headline(page)).toHaveText('Portuguese', SLOW);
  await page.getByRole('link', { name: 'Digits' }).click();
  await sample(page, 'three, drawn').click();
  await expect(headline(page)).toHaveText('three', SLOW);
  // A model that was not opened before is an error in words.
  await page.getByRole('link', { name: 'Orientation' }).click();
  await expect(page.locator('main')).toContainText('network', SLOW);
});
