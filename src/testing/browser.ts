import { existsSync } from 'node:fs';
import type { BrowserType, LaunchOptions } from '@playwright/test';

/**
 * Flags with which Chromium uses a GPU without a screen, as developer.chrome.com/blog/supercharge-web-ai-testing has them for Linux; elsewhere it does so by
 * itself. Where there is no GPU, SwiftShader computes in its place, and Chromium says so.
 */
const GPU_FLAGS = [
  '--enable-unsafe-webgpu',
  '--enable-unsafe-swiftshader',
  ...(process.platform === 'linux'
    ? ['--enable-features=Vulkan', '--use-angle=vulkan', '--disable-vulkan-surface']
    : []),
];

/** Where Linux distributions put their own Chromium, which Playwright does not look for. */
const ON_LINUX = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/snap/bin/chromium'];

/**
 * Returns how to launch each Chromium that may be installed, the best first: the one that is named, by `path` or by the environment variable CHROMIUM_PATH, and then
 * no other; Playwright's own; a Linux distribution's; what Playwright launches by itself, such as its headless shell; Chrome and Edge, which Playwright looks for.
 */
export function chromiums(chromium: Pick<BrowserType, 'executablePath'>, path?: string): readonly LaunchOptions[] {
  const named = path ?? process.env['CHROMIUM_PATH'];
  if (named) return [{ executablePath: named }];
  const own = existsSync(chromium.executablePath()) ? [{ channel: 'chromium' }] : [];
  const system = ON_LINUX.filter((file) => existsSync(file)).map((executablePath) => ({ executablePath }));
  return [...own, ...system, {}, { channel: 'chrome' }, { channel: 'msedge' }];
}

/** Returns launch options with the flags for a GPU, before those that the caller has set: of two that exclude each other, Chromium takes the last. */
export function withGpu(options: LaunchOptions): LaunchOptions {
  return { ...options, args: [...GPU_FLAGS, ...(options.args ?? [])] };
}
