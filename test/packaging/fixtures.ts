import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test as base, expect, type Page } from '@playwright/test';
import type { Backend } from '../../src/contract/backends.ts';
import type { Classification, Detections } from '../../src/index.ts';
import { pack, sizes } from './app.ts';
import type { Site } from './server.ts';

/** What an app shows when a file was picked. */
interface Shown {
  readonly backends: readonly Backend[];
}

/** What it shows of a digit: the built-in handler's answer, and its own handler's. */
export interface ShownDigit extends Shown {
  readonly digits: Classification;
  readonly odd?: number;
}

/** What it shows of a scene. */
export interface ShownScene extends Shown {
  readonly objects: Detections;
}

const FILES = { digit: 'digits/samples/drawn-7.png', scene: 'nanodet/samples/party.jpg' } as const;

/** The reason for a skip in `npm test`. */
export const FULL_ONLY = 'it takes long, and other tests show most of it: npm run test:full runs it';

interface Fixtures {
  /** What the page and its workers complained of. */
  complaints: string[];
  /** Opens an app, picks a digit, and reads what it shows. */
  open: (url: string) => Promise<ShownDigit>;
  /** Picks a scene in the open app, and reads what it shows. */
  detect: () => Promise<ShownScene>;
}

/** A test with the package's tarball. `full`: whether `npm run test:full` runs. */
export const test = base.extend<Fixtures, { full: boolean; tarball: string }>({
  full: [false, { option: true, scope: 'worker' }],
  tarball: [async ({}, use) => await use(await pack()), { scope: 'worker' }],
  complaints: async ({ page }, use) => {
    const complaints: string[] = [];
    // A policy's violation, a missing file and an uncaught error in a worker are in the console too.
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    await use(complaints);
  },
  open: async ({ page, complaints }, use) => {
    await use(async (url) => {
      // A page that reloads has lost the file.
      const onLoad = (): void => void pick(page, 'digit').catch(() => {});
      page.on('load', onLoad);
      await page.goto(url);
      const shown = await read<ShownDigit>(page, 'digits', complaints);
      page.off('load', onLoad);
      return shown;
    });
  },
  detect: async ({ page, complaints }, use) => {
    await use(async () => {
      await page.evaluate(() => (document.querySelector('pre')!.textContent = ''));
      await pick(page, 'scene');
      return await read<ShownScene>(page, 'objects', complaints);
    });
  },
});

async function pick(page: Page, kind: keyof typeof FILES): Promise<void> {
  const file = fileURLToPath(new URL(`../../public/models/${FILES[kind]}`, import.meta.url));
  await page.locator(`#${kind}:enabled`).setInputFiles(file);
}

/**
 * Reads the answer `kind`. React's StrictMode starts an app twice, so the digit's second answer may come after a scene
 * was picked.
 */
async function read<T extends Shown>(
  page: Page,
  kind: 'digits' | 'objects',
  complaints: readonly string[],
): Promise<T> {
  const text = await page
    .waitForFunction(
      (kind) => {
        const shown = document.querySelector('pre')?.textContent;
        if (!shown) return undefined;
        const keys = Object.keys(JSON.parse(shown) as object);
        return keys.includes(kind) || keys.includes('error') ? shown : undefined;
      },
      kind,
      { timeout: 60_000 },
    )
    .catch((cause: unknown) => {
      throw new Error(`The app shows nothing. ${complaints.join('\n')}`, { cause });
    });
  const shown = JSON.parse((await text.jsonValue())!) as T & { readonly error?: string };
  expect(shown.error, complaints.join('\n')).toBeUndefined();
  return shown;
}

/** The image shows a seven. */
export function expectSeven({ digits, odd, backends }: ShownDigit): void {
  expect(digits[0]!.label).toBe('seven');
  expect(digits[0]!.score).toBeGreaterThan(0.9);
  if (odd !== undefined) expect(odd).toBeGreaterThan(0.9);
  for (const backend of backends) expect(backend.name, JSON.stringify(backend.skipped)).toBe('wasm');
}

/** The photo shows two people at a table: `test/models/nanodet.golden.json`. */
export function expectParty({ objects, backends }: ShownScene): void {
  expect(objects.map(({ label }) => label)).toEqual(['person', 'person', 'wine glass']);
  for (const backend of backends) expect(backend.name, JSON.stringify(backend.skipped)).toBe('wasm');
}

/** Text that only engines for the GPU hold. */
const GPU_CODE = /createShaderModule|texImage2D/;

/** An engine has more bytes. TabServe's own transforms on the GPU, a chunk that onnx/webgpu alone loads, have fewer. */
const MIN_ENGINE_BYTES = 2 ** 16;

/** The scripts in a folder that hold an engine for the GPU. */
export function gpuScripts(folder: string): string[] {
  return Object.entries(sizes(folder))
    .filter(([file, size]) => /\.m?js$/.test(file) && size > MIN_ENGINE_BYTES)
    .map(([file]) => file)
    .filter((file) => GPU_CODE.test(readFileSync(join(folder, file), 'latin1')));
}

/**
 * Of the engines, the page got one `.wasm` file, the plain one, and no script of another.
 * @param workers the scripts of workers that are not split: they hold TabServe's own transforms on the GPU
 */
export function expectWasmOnly({ sent, missing }: Site, workers?: RegExp): void {
  const files = [...sent].filter(([path]) => path.endsWith('.wasm'));
  expect(files.map(([path]) => path)).toEqual([
    expect.stringMatching(/ort-wasm-simd-threaded[^/.]*\.wasm$|\/[0-9a-f]{16,}\.wasm$/),
  ]);
  expect([...files[0]![1].subarray(0, 4)]).toEqual([0, 0x61, 0x73, 0x6d]);
  const scripts = [...sent].filter(([path, body]) => /\.m?js$/.test(path) && GPU_CODE.test(body.toString('latin1')));
  expect(scripts.map(([path]) => path).filter((path) => !workers?.test(path))).toEqual([]);
  // Archives may lack some of their files; everything else that is asked for must be there.
  expect([...missing].filter((path) => !path.startsWith('/models/'))).toEqual([]);
}

export { expect };
