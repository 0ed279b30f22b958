import { expect, test } from '@playwright/test';
import { guard, originOf } from '../../../../../src/server/node/http/guard.ts';

const options = { hosts: [], origins: ['https://app.example'] };
const host = '127.0.0.1:8080';

test('a request without an origin is allowed, unless a browser says that a page of another origin has sent it', () => {
  for (const site of [undefined, 'same-origin', 'none'])
    expect(guard({ host, 'sec-fetch-site': site }, options).allowed, site).toBe(true);
  // `same-site` is another port of the same host: another program's page.
  for (const site of ['same-site', 'cross-site', '', 'same-origin, cross-site'])
    expect(guard({ host, 'sec-fetch-site': site }, options).allowed, site).toBe(false);
});

test('a client of HTTP/1.0 may send no Host; a browser always sends one, and says where the page is from', () => {
  expect(guard({}, options).allowed).toBe(true);
  for (const headers of [{ host: '' }, { host: 'evil.example' }, { origin: 'http://undefined' }])
    expect(guard(headers, options).allowed, JSON.stringify(headers)).toBe(false);
  expect(guard({ 'sec-fetch-site': 'cross-site' }, options).allowed).toBe(false);
});

test('an origin that is allowed is written as browsers send it', () => {
  // What Chromium, Electron, Tauri and Firefox send in the header Origin.
  for (const origin of [
    'https://app.example',
    'http://localhost:5173',
    'app://obsidian.md',
    'chrome-extension://abcdefghijklmnopabcdefghijklmnop',
    'moz-extension://9b4a5a2e-6f3c-4d5e-8f6a-1b2c3d4e5f60',
    'tauri://localhost',
    'capacitor://localhost',
    '*',
  ])
    expect(originOf(origin), origin).toBe(origin);
  expect([originOf('https://App.Example:443/'), originOf('app://obsidian.md/')]).toEqual([
    'https://app.example',
    'app://obsidian.md',
  ]);
  for (const none of [
    '',
    'null',
    'localhost:5173',
    'app.example',
    'https://app.example/path',
    'file:///a',
    'app://',
    'data:,x',
    'app://x/y',
    'https://user@app.example',
  ])
    expect(originOf(none), none).toBe(undefined);
});

test('an origin is the server’s own, or one that is allowed', () => {
  for (const [origin, is] of [
    [`http://${host}`, true],
    ['https://app.example', true],
    [`https://${host}`, false],
    ['http://127.0.0.1:8081', false],
    ['https://app.example.evil', false],
    ['null', false],
  ] as const)
    expect(guard({ host, origin, 'sec-fetch-site': 'same-origin' }, options).allowed, origin).toBe(is);
});

test('a page without an origin is told what it can do: --cors takes no null', () => {
  const headers = { host: 'localhost:8080', origin: 'null' };
  const why = expect.stringMatching(/without an origin.*opened as a file.*over http/);
  expect(guard(headers, { hosts: [], origins: ['http://localhost:5173'] })).toEqual({ allowed: false, why });
  expect(guard(headers, { hosts: [], origins: ['*'] })).toMatchObject({ allowed: true });
  expect(originOf('null')).toBeUndefined();
});
