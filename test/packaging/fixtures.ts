import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test as base, expect } from '@playwright/test';
import type { Backend } from '../../src/contract/backends.ts';
import type { Classification } from '../../src/index.ts';
import { pack, sizes, temporary } from './app.ts';
import type { Site } from './server.ts';

/** What an app shows when it has classified its image. */
export interface Shown {
  readonly digits: Classification;
  readonly odd?: number;
  readonly backends: readonly Backend[];
}

interface Fixtures {
  /** What the page and its workers complained of. */
  complaints: string[];
  /** Opens an app and reads what it shows. */
  open: (url: string) => Promise<Shown>;
}

/** A test with the package's tarball. */
export const test = base.extend<Fixtures, { tarball: string }>({
  tarball: [
    async ({}, use) => {
      const folder = temporary();
      await use(await pack(folder));
      rmSync(folder, { recursive: true });
    },
    { scope: 'worker' },
  ],
  complaints: async ({ page }, use) => {
    const complaints: string[] = [];
    // A policy's violation, a missing file and an uncaught error in a worker are in the console too.
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    await use(complaints);
  },
  open: async ({ page, complaints }, use) => {
    await use(async (url) => {
      await page.goto(url);
      const text = await page
        .waitForFunction(() => document.querySelector('pre')?.textContent, undefined, { timeout: 60_000 })
        .catch((cause: unknown) => {
          throw new Error(`The app shows nothing. ${complaints.join('\n')}`, { cause });
        });
      const shown = JSON.parse((await text.jsonValue())!) as Shown & { readonly error?: string };
      expect(shown.error, complaints.join('\n')).toBeUndefined();
      return shown;
    });
  },
});

/** The image shows a seven. */
export function expectSeven({ digits, odd, backends }: Shown): void {
  expect(digits[0]!.label).toBe('seven');
  expect(digits[0]!.score).toBeGreaterThan(0.9);
  if (odd !== undefined) expect(odd).toBeGreaterThan(0.9);
  for (const backend of backends) expect(backend.name, JSON.stringify(backend.skipped)).toBe('wasm');
}

/** Text that only engines for the GPU hold. */
const GPU_CODE = /createShaderModule|texImage2D/;

/** The scripts in a folder that hold an engine for the GPU. */
export function gpuScripts(folder: string): string[] {
  return Object.keys(sizes(folder)).filter(
    (file) => /\.m?js$/.test(file) && GPU_CODE.test(readFileSync(join(folder, file), 'latin1')),
  );
}

/** Of the engines, the page got one `.wasm` file, the plain one, and no script of another. */
export function expectWasmOnly({ sent, missing }: Site): void {
  const files = [...sent].filter(([path]) => path.endsWith('.wasm'));
  expect(files.map(([path]) => path)).toEqual([
    expect.stringMatching(/ort-wasm-simd-threaded[^/.]*\.wasm$|\/[0-9a-f]{16,}\.wasm$/),
  ]);
  expect([...files[0]![1].subarray(0, 4)]).toEqual([0, 0x61, 0x73, 0x6d]);
  const scripts = [...sent].filter(([path, body]) => /\.m?js$/.test(path) && GPU_CODE.test(body.toString('latin1')));
  expect(scripts.map(([path]) => path)).toEqual([]);
  // Archives may lack some of their files; everything else that is asked for must be there.
  expect([...missing].filter((path) => !path.startsWith('/models/'))).toEqual([]);
}

export { expect };
