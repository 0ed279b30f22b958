import { expect, test } from '@playwright/test';
import { guard } from '../../../../../src/server/node/http/guard.ts';

const options = { hosts: [], origins: ['https://app.example'] };
const host = '127.0.0.1:8080';

test('a request without an origin is allowed, unless a browser says that a page of another origin has sent it', () => {
  for (const site of [undefined, 'same-origin', 'none'])
    expect(guard({ host, 'sec-fetch-site': site }, options).allowed, site).toBe(true);
  // `same-site` is another port of the same host: another program's page.
  for (const site of ['same-site', 'cross-site', '', 'same-origin, cross-site'])
    expect(guard({ host, 'sec-fetch-site': site }, options).allowed, site).toBe(false);
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
