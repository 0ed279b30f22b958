import { test as base, expect, type Page } from '@playwright/test';
import type * as Tabserve from '../../src/index.ts';
import type { workers } from './pages/tabserve.ts';
import type { Fault } from './workers/faulty.worker.ts';

export interface BackendOptions {
  backend: 'wasm' | 'webgl' | 'webgpu';
}

/** What `pages/tabserve.html` puts on its window. */
export interface TestWindow {
  tabserve: typeof Tabserve;
  workers: typeof workers;
  /** How to ask `workers.faulty` for a fault, so many times. */
  faults(): (kind: Fault['kind'], stage: Fault['stage'], times: number) => { params: { fault: Fault } };
  disposal(): Promise<{ inside: string; after: string }>;
  /** An error as data: what a test compares. */
  failure(work: Promise<unknown> | (() => unknown)): Promise<Failure>;
}

export interface Failure {
  name: string;
  code: string;
  stage: string | undefined;
  message: string;
  cause: string | undefined;
}

declare global {
  interface Window extends TestWindow {}
}

/** A test on one backend, with the page that has `window.tabserve`; console errors are kept for those that want none. */
export const test = base.extend<BackendOptions & { open: (search?: string) => Promise<Page> }>({
  backend: ['wasm', { option: true }],
  open: async ({ page }, use) => {
    await use(async (search = '') => {
      await page.goto(`/test/browser/pages/tabserve.html${search}`);
      await page.waitForFunction(() => 'tabserve' in window);
      return page;
    });
  },
});

export { expect };
