import { existsSync } from 'node:fs';

/** Firefox: FIREFOX_PATH, or where Debian and others put it; undefined where there is none. */
export const firefoxPath =
  process.env['FIREFOX_PATH'] ??
  [
    '/usr/bin/firefox-esr',
    '/usr/bin/firefox',
    '/Applications/Firefox.app/Contents/MacOS/firefox',
    'C:\\Program Files\\Mozilla Firefox\\firefox.exe',
  ].find((path) => existsSync(path));

export const NO_FIREFOX =
  'there is no Firefox: install it (Debian: apt-get install firefox-esr), or set FIREFOX_PATH to one';
