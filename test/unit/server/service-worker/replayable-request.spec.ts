import { expect, test } from '@playwright/test';
import { ReplayableRequest } from '../../../../src/server/service-worker/replayable-request.ts';

const post = (body: string): Request => new Request('https://app.example/p', { method: 'POST', body });

/** A request as Firefox has it, whose body is no stream. */
const withoutStream = (body: string): Request => {
  const request = post(body);
  request.clone = () => Object.defineProperty(post(body), 'body', { value: undefined });
  return request;
};

for (const [name, make] of [
  ['a stream', post],
  ['no stream', withoutStream],
] as const)
  test(`a body that is ${name}: up to the limit it can be sent again, and one byte more is too large`, async () => {
    const fits = new ReplayableRequest(make('12345'), 5);
    expect(await ((await fits.body()) as Blob).text()).toBe('12345');
    expect(await (await fits.forServer()).text()).toBe('12345');
    const large = new ReplayableRequest(make('123456'), 5);
    expect(await large.body()).toBe('too-large');
    expect(await (await large.forServer()).text()).toBe('123456');
  });

test('a request without a body has none', async () => {
  expect(await new ReplayableRequest(new Request('https://app.example/p'), 5).body()).toBeUndefined();
});
