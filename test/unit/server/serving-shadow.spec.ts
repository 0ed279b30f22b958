// A shadow: when it runs, what it compares, and that it delays no answer. The clock and the clients are the test's.
import { expect, test } from '@playwright/test';
import { PredictionError } from '../../../src/contract/errors.ts';
import { compareAnswers } from '../../../src/server/compare-answers.ts';
import { ModelServer } from '../../../src/server/model-server.ts';
import { smallCopy } from '../../../src/server/shadow.ts';
import { random } from '../../random.ts';
import { FakeClient } from '../support/fake-client.ts';
import { FakeClock, settle } from '../support/fake-clock.ts';

const tensor = (data: Float32Array): unknown => ({ dtype: 'float32', dims: [data.length], data });

test('answers are compared by label, and tensors by position', () => {
  const cases: readonly (readonly [unknown, unknown, string[] | undefined, boolean, number])[] = [
    [{ seven: 0.75, one: 0.25 }, { one: 0.5, seven: 0.5 }, ['seven', 'one'], true, 0.25],
    [
      [{ label: '7', score: 0.75 }],
      [
        { label: '7', score: 0.5 },
        { label: '1', score: 0.5 },
      ],
      ['7', '7'],
      false,
      0.25,
    ],
    [{ seven: 0.75 }, [{ label: 'seven', score: 0.75 }], ['seven', 'seven'], false, 0],
    ['text', 'text', ['text', 'text'], false, 0],
    ['text', 'other', ['text', 'other'], true, 0],
    [{ label: 'a', box: { xmin: 1 } }, { label: 'a', box: { xmin: 3 } }, ['a', 'a'], false, 2],
    [[{ label: 'a', score: 0.5, box: { xmin: 1 } }], [], undefined, true, 0],
    [{ y: tensor(new Float32Array([1, 2])) }, { y: tensor(new Float32Array([1, 5])) }, undefined, false, 3],
    [{ y: tensor(new Float32Array(2)) }, { y: tensor(new Float32Array(3)) }, undefined, true, 1],
    [{ mask: new Uint8Array([0, 255]) }, { mask: new Uint8Array([0, 254]) }, undefined, false, 1],
    [{ n: 1n }, { n: 4n }, undefined, false, 3],
    [{ a: [Number.NaN] }, { a: [Number.NaN] }, undefined, false, 0],
    [{ a: [Number.NaN] }, { a: [1] }, undefined, true, 0],
    [{ a: 'x' }, { b: 'x' }, undefined, true, 0],
    [null, undefined, undefined, true, 0],
  ];
  for (const [first, second, labels, disagrees, largest] of cases)
    expect(compareAnswers(first, second), JSON.stringify([String(first), String(second)])).toEqual({
      labels: labels ?? [undefined, undefined],
      disagrees,
      largest,
    });
  const deep = (levels: number): unknown => (levels === 0 ? 1 : { in: deep(levels - 1) });
  expect(compareAnswers(deep(10_000), deep(10_000)).disagrees).toBe(true);
});

test('only small plain data is kept for a comparison', () => {
  const bytes = new Uint8Array([1]);
  const blob = new Blob(['x']);
  const copy = smallCopy({ data: bytes, file: blob })!.value as { data: Uint8Array };
  bytes[0] = 9;
  expect(copy.data).toEqual(new Uint8Array([1]));
  expect(smallCopy('text')).toEqual({ value: 'text' });
  for (const value of [
    new Float32Array(1_000_001),
    () => 1,
    { in: { a: { b: { c: { d: { e: 1 } } } } } },
    new (class Frame {
      close = 1;
    })(),
    new URL('http://a/'),
  ])
    expect(smallCopy(value)).toBeUndefined();
});

interface World {
  readonly server: ModelServer;
  readonly clock: FakeClock;
  readonly one: FakeClient;
  readonly two: FakeClient;
}

async function world(
  first: (input: never) => unknown = () => ({ a: 0.75, b: 0.25 }),
  second: (input: never) => unknown = () => ({ a: 0.25, b: 0.75 }),
): Promise<World> {
  const clock = new FakeClock();
  const server = new ModelServer({ clock });
  const one = new FakeClient({}, ({ input }) => first(input as never));
  const two = new FakeClient({ modelVersion: '2.0' }, ({ input }) => second(input as never));
  await server.register(one, { name: 'm' });
  await server.register(two, { name: 'm' });
  return { server, clock, one, two };
}

test('a shadow runs after a pause, on a share of the default version’s requests, and reports what it finds', async () => {
  const { server, clock, two } = await world();
  const shadow = server.shadow('m', '2.0', { share: 0.5 });
  for (let request = 0; request < 4; request++) await server.predict('m', request, { params: { topK: 1 } });
  await server.predict('m', 'explicit', { version: '2.0' });
  expect(two.asked.map(({ input }) => input)).toEqual(['explicit']);
  await clock.advance(99);
  expect(two.asked.length).toBe(1);
  await clock.advance(1);
  expect(two.asked.slice(1)).toMatchObject([{ input: 3, options: { params: { topK: 1 } } }]);
  await clock.advance(1000);
  expect(two.asked.map(({ input }) => input)).toEqual(['explicit', 3, 1]);
  expect(shadow.report()).toEqual({
    name: 'm',
    version: '2.0',
    requests: 4,
    compared: 2,
    disagreed: 2,
    labels: [{ default: 'a', shadow: 'b', count: 2 }],
    largestDifference: 0.5,
    meanDifference: 0.5,
    failed: 0,
    lastError: undefined,
    interrupted: 0,
    skipped: 0,
  });
  // HTTP requests are followed too, and other models' are not.
  const response = await server.fetch(new Request('http://s/predictions/m', { method: 'POST', body: new Blob(['x']) }));
  expect(response.status).toBe(200);
  await server.fetch(new Request('http://s/predictions/m', { method: 'POST', body: new Blob(['x']) }));
  await clock.advance(1000);
  expect(shadow.report()).toMatchObject({ requests: 6, compared: 3 });
  expect(two.asked.at(-1)!.options.params).toEqual({ result: 'torchserve' });
  shadow.stop();
  await server.predict('m', 1);
  await server.predict('m', 1);
  await clock.advance(1000);
  expect(shadow.report()).toMatchObject({ requests: 6, compared: 3 });
  expect(clock.pending).toBe(0);
});

test('a request ends the run of a shadow, and what a shadow cannot keep is skipped', async () => {
  const { server, clock, one, two } = await world(undefined, (input) =>
    input === 1 ? new Promise(() => {}) : { a: 1 },
  );
  const shadow = server.shadow('m', '2.0');
  await server.predict('m', 1);
  await clock.advance(100);
  expect(two.asked.length).toBe(1);
  const request = server.predict('m', 2);
  expect(two.asked[0]!.options.signal!.aborted).toBe(true);
  await request;
  await settle();
  expect(shadow.report()).toMatchObject({ interrupted: 1, compared: 0 });
  // One of two requests has met a run: no other run before the 200th.
  await clock.advance(60_000);
  expect(two.asked.length).toBe(1);
  for (let more = 0; more < 197; more++) await server.predict('m', 3);
  await clock.advance(60_000);
  expect(two.asked.length).toBe(1);
  await server.predict('m', 3);
  await clock.advance(60_000);
  expect(shadow.report()).toMatchObject({ requests: 200, compared: 8, skipped: 191, interrupted: 1, disagreed: 0 });
  // A buffer that is given away, an element of the page, a frame.
  await server.predict('m', new Float32Array(2), { transfer: true });
  await server.predict('m', new URL('http://a/b.png'));
  expect(shadow.report().skipped).toBe(193);
  // A request that fails is not compared.
  const failing = new PredictionError('image-decode', 'no image');
  Object.assign(one, {
    answer: () => {
      throw failing;
    },
  });
  await expect(server.predict('m', 5)).rejects.toBe(failing);
  await clock.advance(1000);
  expect(shadow.report()).toMatchObject({ requests: 203, compared: 8, skipped: 193 });
});

test('a shadow that fails, hangs, or is removed', async () => {
  const { server, clock, two } = await world(undefined, (input) => {
    if (input === 'hang') return new Promise(() => {});
    throw new Error('the new version is broken');
  });
  const shadow = server.shadow('m', '2.0');
  await server.predict('m', 'x');
  await clock.advance(100);
  expect(shadow.report()).toMatchObject({ failed: 1, lastError: 'the new version is broken' });
  await server.predict('m', 'hang');
  await clock.advance(100);
  await clock.advance(60_000);
  expect(shadow.report()).toMatchObject({ failed: 2, lastError: 'The shadow did not answer within 60000 ms.' });
  expect(two.asked.at(-1)!.options.signal!.aborted).toBe(true);
  await server.predict('m', 'hang');
  await clock.advance(100);
  await server.unregister('m', '2.0');
  expect(two.asked.at(-1)!.options.signal!.aborted).toBe(true);
  await server.predict('m', 'x');
  await clock.advance(60_000);
  expect(clock.pending).toBe(0);
  expect(() => server.shadow('m', '2.0')).toThrow('Model version: 2.0 does not exist');
  for (const share of [-1, 2, Number.NaN, '1'])
    expect(() => server.shadow('m', '1.0', { share: share as number })).toThrow('share: expected a number in 0..1');
});

test('the default changes: the shadow follows the new one, and rests while it is itself the default', async () => {
  const { server, clock } = await world();
  const shadow = server.shadow('m', '2.0');
  server.setDefault('m', '2.0');
  await server.predict('m', 1);
  await clock.advance(1000);
  expect(shadow.report().requests).toBe(0);
  await server.register(new FakeClient({ modelVersion: '3.0' }, () => ({ b: 0.75 })), { name: 'm' });
  server.setDefault('m', '3.0');
  await server.predict('m', 1);
  await clock.advance(1000);
  expect(shadow.report()).toMatchObject({ requests: 1, compared: 1, disagreed: 0 });
});

/**
 * A device with one core: a request takes 10 to 20 ms, and up to 20 ms more if a shadow computes when it comes, since
 * that cannot be stopped.
 */
async function latencies(withShadow: boolean, gap: number): Promise<{ sorted: number[]; compared: number }> {
  const clock = new FakeClock();
  const server = new ModelServer({ clock });
  let shadowUntil = -Infinity;
  const wait = (milliseconds: number): Promise<void> =>
    new Promise((resolve) => void clock.schedule(resolve, milliseconds));
  const took = random(3);
  const one = new FakeClient({}, async () => {
    await wait(10 + 10 * took() + Math.max(0, shadowUntil - clock.now()));
    return { a: 1 };
  });
  const two = new FakeClient({ modelVersion: '2.0' }, async () => {
    shadowUntil = clock.now() + 20;
    await wait(20);
    return { a: 0.5 };
  });
  await server.register(one, { name: 'm' });
  await server.register(two, { name: 'm' });
  const shadow = withShadow ? server.shadow('m', '2.0') : undefined;
  const times: number[] = [];
  const next = random(7);
  for (let request = 0; request < 3000; request++) {
    const started = clock.now();
    void server.predict('m', request).then(() => times.push(clock.now() - started));
    await settle();
    await clock.advance(Math.ceil(-Math.log(1 - next()) * gap));
  }
  await clock.advance(1000);
  return { sorted: times.sort((a, b) => a - b), compared: shadow?.report().compared ?? 0 };
}

test('requests at random times: p95 is the same with a shadow and without, within 2 %', async () => {
  test.setTimeout(120_000);
  for (const gap of [40, 150, 1000]) {
    const [without, shadowed] = [await latencies(false, gap), await latencies(true, gap)];
    const p95 = ({ sorted }: { sorted: number[] }): number => sorted[Math.floor(sorted.length * 0.95)]!;
    expect(shadowed.sorted.length).toBe(3000);
    expect(p95(shadowed) / p95(without), `a request each ${gap} ms`).toBeLessThanOrEqual(1.02);
    expect(shadowed.compared, `a request each ${gap} ms`).toBeGreaterThan(20);
  }
});
