import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Browser, BrowserType, LaunchOptions } from '@playwright/test';
import { messageOf, TabServeError } from '../../contract/errors.js';

const FLAGS = ['--enable-unsafe-webgpu', '--enable-unsafe-swiftshader'];

/**
 * Flags with which Chromium uses a GPU on Linux without a screen, as
 * developer.chrome.com/blog/supercharge-web-ai-testing has them; elsewhere it does so by itself.
 */
const VULKAN = ['--enable-features=Vulkan', '--use-angle=vulkan', '--disable-vulkan-surface'];

/**
 * Where Linux has no GPU, SwiftShader computes instead, and Chromium says so. With the flags for Vulkan, it would take
 * a driver that computes in software, such as Mesa's, which opens no page.
 */
const IN_SOFTWARE = ['--use-webgpu-adapter=swiftshader'];

/** Linux's drivers of screens that have no GPU, or the one of a virtual machine. */
const NO_GPU = /^(virtio|vgem|vkms|vmwgfx|simple|bochs|qxl|cirrus|ast|mgag200|hyperv)/;

/**
 * Returns whether Linux has a GPU: a device that renders, with a driver of its own.
 * @param root a folder instead of `/`
 */
export function hasGpu(root = '/'): boolean {
  if (existsSync(join(root, 'dev/nvidiactl'))) return true;
  const drm = join(root, 'sys/class/drm');
  if (!existsSync(drm)) return false;
  return readdirSync(drm).some((name) => name.startsWith('renderD') && !NO_GPU.test(driverOf(join(drm, name))));
}

/** Returns the name of a device's driver. */
function driverOf(device: string): string {
  try {
    return basename(readlinkSync(join(device, 'device/driver')));
  } catch {
    return '';
  }
}

/** Where Linux distributions put their own Chromium, which Playwright does not look for. */
const ON_LINUX = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/snap/bin/chromium'];

/**
 * Returns how to launch each Chromium that may be installed, the best first: the one that is named, by `path` or by the
 * environment variable CHROMIUM_PATH, and then no other; Playwright's own; a Linux distribution's; what Playwright
 * launches by itself, such as its headless shell; Chrome and Edge, which Playwright looks for.
 */
export function chromiums(chromium: Pick<BrowserType, 'executablePath'>, path?: string): readonly LaunchOptions[] {
  const named = path ?? process.env['CHROMIUM_PATH'];
  if (named) return [{ executablePath: named }];
  const own = existsSync(chromium.executablePath()) ? [{ channel: 'chromium' }] : [];
  const system = ON_LINUX.filter((file) => existsSync(file)).map((executablePath) => ({ executablePath }));
  return [...own, ...system, {}, { channel: 'chrome' }, { channel: 'msedge' }];
}

/**
 * Returns launch options with the flags for the machine's GPU, or for none, before those that the caller has set: of
 * two that exclude each other, Chromium takes the last.
 */
export function withGpu(options: LaunchOptions): LaunchOptions {
  const ofLinux = process.platform === 'linux' ? (hasGpu() ? VULKAN : IN_SOFTWARE) : [];
  return { ...options, args: [...FLAGS, ...ofLinux, ...(options.args ?? [])] };
}

/** The packages of Playwright that can launch a browser. */
const PACKAGES = ['@playwright/test', 'playwright', 'playwright-core'];

/**
 * Launches an installed Chromium.
 * @param path of its executable; without it, it is looked for.
 * @throws `unsupported` if Playwright or Chromium is missing
 */
export async function launchChromium(path: string | undefined): Promise<Browser> {
  const chromium = await loadPlaywright();
  const failures: string[] = [];
  for (const options of chromiums(chromium, path)) {
    const name = options.executablePath ?? options.channel ?? "Playwright's own";
    try {
      return await chromium.launch(withGpu(options));
    } catch (error) {
      const [why = ''] = messageOf(error)
        .replace(/^browserType\.launch: /, '')
        .split('\n');
      failures.push(`${name}: ${why}`);
    }
  }
  throw new TabServeError(
    'unsupported',
    `No Chromium could be started. Install one: npx playwright install chromium. Or name one: --browser PATH, or the environment variable CHROMIUM_PATH.\n${failures.join('\n')}`,
  );
}

async function loadPlaywright(): Promise<BrowserType> {
  for (const name of PACKAGES) {
    try {
      return ((await import(name)) as { chromium: BrowserType }).chromium;
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    }
  }
  throw new TabServeError(
    'unsupported',
    'Playwright is not installed, and tabserve test drives the browser with it. Install it: npm install --save-dev @playwright/test',
  );
}
