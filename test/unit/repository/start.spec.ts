import { expect, test } from '@playwright/test';
import { canOpenBrowser } from '../../../scripts/start.mjs';

/** Where there is no desktop, `npm start` prints the address instead of opening it. */
const withXdgOpen = (path: string): boolean => path === '/usr/bin/xdg-open';
const PATH = '/usr/local/bin:/usr/bin';

for (const [what, platform, env, exists, expected] of [
  ['Linux with X11', 'linux', { PATH, DISPLAY: ':0' }, withXdgOpen, true],
  ['Linux with Wayland', 'linux', { PATH, WAYLAND_DISPLAY: 'wayland-0' }, withXdgOpen, true],
  ['Linux without a display', 'linux', { PATH }, withXdgOpen, false],
  ['Linux without xdg-open', 'linux', { PATH, DISPLAY: ':0' }, () => false, false],
  ['Linux without a PATH', 'linux', { DISPLAY: ':0' }, withXdgOpen, false],
  ['macOS', 'darwin', {}, () => false, true],
  ['Windows', 'win32', {}, () => false, true],
  ['CI on macOS', 'darwin', { CI: 'true' }, () => false, false],
] as const) {
  test(`npm start ${expected ? 'opens' : 'does not open'} a browser: ${what}`, () => {
    expect(canOpenBrowser(platform, env, exists)).toBe(expected);
  });
}
