import { existsSync } from 'node:fs';

/** The browser to drive: CHROMIUM_PATH, or where Debian and others put it; undefined leaves Playwright its own. */
export const chromiumPath =
  process.env['CHROMIUM_PATH'] ??
  ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path));

/**
 * Chromium's windows have a page of their own for what its address bar shows, in every context anew. Of several lists
 * Chromium reads the last, so the part of Playwright's that can matter here is in this one.
 */
const DISABLED_FEATURES = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
];

const BASE = [
  `--disable-features=${DISABLED_FEATURES.join()}`,
  '--no-sandbox',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * Chromium's flags for each backend; where there is no GPU, SwiftShader computes in its place. Without them WebGPU has
 * no adapter: the fallback's own test.
 */
export const chromiumArgs = {
  wasm: BASE,
  webgl: [...BASE, '--enable-unsafe-swiftshader'],
  webgpu: [...BASE, '--enable-unsafe-swiftshader', '--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'],
} as const;
