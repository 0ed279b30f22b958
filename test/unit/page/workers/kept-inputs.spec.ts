// An input that the page keeps: a worker gets it, says that it keeps what it has made of it, and then gets its key alone.
import { expect, test } from '@playwright/test';
import { errorToData } from '../../../../src/contract/error-data.ts';
import { TabServeError } from '../../../../src/contract/errors.ts';
import type { HandleAnswer } from '../../../../src/contract/wire.ts';
import { prepare, type Prepared } from '../../../../src/page/requests/inputs.ts';
import { keepInput } from '../../../../src/page/requests/keep.ts';
import type { RetainedValue } from '../../../../src/page/requests/retained-value.ts';
import { unwrap } from '../../../../src/worker/handlers/row.ts';
import { settle, World, type FakeWorker } from '../../support/pool-world.ts';

const keep = (input: unknown): RetainedValue => keepInput(prepare(input) as Prepared) as RetainedValue;

const lost = errorToData(new TabServeError('state-lost', 'It is gone.'));

/** Answers the worker's oldest batch: it keeps what it has made of these inputs. */
async function answer(worker: FakeWorker, kept: readonly RetainedValue[], given: Partial<HandleAnswer> = {}) {
  worker.answer({ kept: kept.map(({ key }) => key), ...given });
  await settle();
}

/** Returns whether each row of the worker's oldest batch has the photo itself. */
const sent = (worker: FakeWorker): readonly boolean[] =>
  worker.requests[0]!.rows.map((row) => (row as { readonly image: object }).image).map((image) => 'value' in image);

test('a worker that keeps it gets the key alone; one that does not gets the input each time', async () => {
  const world = new World();
  const worker = await world.start();
  const photo = keep(new Uint8Array([1, 2, 3]));
  const ask = () => world.ask({ input: { image: photo, points: [[1, 2]] } });
  ask();
  expect(worker.requests[0]!.rows).toEqual([
    { image: { keptKey: photo.key, value: Uint8Array.of(1, 2, 3) }, points: [[1, 2]] },
  ]);
  expect(worker.requests[0]!.kept).toEqual([photo.key]);
  await answer(worker, []);
  ask();
  expect(sent(worker)).toEqual([true]);
  await answer(worker, [photo]);
  ask();
  expect(worker.requests[0]!.rows).toEqual([{ image: { keptKey: photo.key }, points: [[1, 2]] }]);
});

test('a value that was evicted is sent again, once, and the app sees nothing of it', async () => {
  const world = new World({ batchSize: 2, maxBatchDelay: 0 });
  const worker = await world.start();
  const [photo, other] = [keep('a photo'), keep('another one')];
  world.ask({ input: { image: photo } });
  await answer(worker, [photo]);
  const block = world.ask();
  const [first, second] = [world.ask({ input: { image: photo } }), world.ask({ input: { image: other } })];
  await answer(worker, []);
  expect(block.outcome).toBeDefined();
  expect(sent(worker)).toEqual([false, true]);
  // The other request of the batch has its answer.
  await answer(worker, [other], {
    rows: [
      { ok: false, error: lost },
      { ok: true, value: 'found' },
    ],
  });
  expect([first.outcome, second.outcome]).toEqual([undefined, 'found']);
  expect(sent(worker)).toEqual([true]);
  await answer(worker, [photo]);
  expect(first.outcome).toBe(first.id);
});

test('a worker that never has it is asked twice, not for ever; so is one whose whole batch fails', async () => {
  const world = new World();
  const worker = await world.start();
  const photo = keep('a photo');
  const row = world.ask({ input: { image: photo } });
  const failed = { rows: [{ ok: false as const, error: lost }] };
  await answer(worker, [], failed);
  await answer(worker, [], failed);
  expect([row.outcome, worker.requests]).toEqual(['failed', []]);
  const batch = world.ask({ input: { image: photo } });
  await answer(worker, [], { rows: [], failure: lost });
  expect(sent(worker)).toEqual([true]);
  await answer(worker, [], { rows: [], failure: lost });
  expect([batch.outcome, worker.requests]).toEqual(['state-lost', []]);
});

test('a worker that replaces a lost one gets the input', async () => {
  const world = new World();
  const worker = await world.start();
  const photo = keep('a photo');
  world.ask({ input: { image: photo } });
  await answer(worker, [photo]);
  const asked = world.ask({ input: { image: photo } });
  expect(sent(worker)).toEqual([false]);
  worker.die();
  await settle();
  await world.pass(0);
  const next = await world.opened();
  expect(sent(next)).toEqual([true]);
  await answer(next, [photo]);
  expect(asked.outcome).toBe(asked.id);
});

test('a released input is freed in the workers that keep it, and cannot be asked about', async () => {
  const world = new World();
  const worker = await world.start();
  const photo = keep('a photo');
  world.ask({ input: { image: photo } });
  await answer(worker, [photo]);
  photo.release();
  photo.release();
  expect(worker.forgotten).toEqual([photo.key]);
  expect(() => prepare({ image: photo })).toThrow(expect.objectContaining({ code: 'invalid-input' }));
});

test('an input that two clients are asked about is freed in the workers of both', async () => {
  const worlds = [new World(), new World()];
  const workers = await Promise.all(worlds.map((world) => world.start()));
  const photo = keep('a photo');
  for (const [index, world] of worlds.entries()) {
    world.ask({ input: { image: photo } });
    await answer(workers[index]!, [photo]);
  }
  photo.release();
  expect(workers.map(({ forgotten }) => forgotten)).toEqual([[photo.key], [photo.key]]);
});

test('an input that has a kept one in it cannot be kept', async () => {
  const photo = keep('a photo');
  for (const input of [photo, { image: photo }])
    expect(() => keep(input)).toThrow(
      expect.objectContaining({ code: 'invalid-input', message: expect.stringContaining('kept already') }),
    );
  // It is not in use any more.
  expect(prepare({ image: photo })).toBeDefined();
});

test('it is a copy of what was kept, and each message has one of its own', () => {
  const pixels = { data: Uint8Array.of(1, 2, 3), dims: [1, 1, 3] };
  const photo = keep(pixels);
  pixels.data[0] = 9;
  const known = { has: () => false };
  const [one, other] = [photo.message(known), photo.message(known)];
  expect(one.value).toEqual({ keptKey: photo.key, value: { data: Uint8Array.of(1, 2, 3), dims: [1, 1, 3] } });
  expect(one.transferables).toHaveLength(1);
  structuredClone(one.value, { transfer: [...one.transferables] });
  expect(other.value).toEqual({ keptKey: photo.key, value: { data: Uint8Array.of(1, 2, 3), dims: [1, 1, 3] } });
});

test('a request that was made before the release is answered', async () => {
  const world = new World();
  const worker = await world.start();
  const photo = keep('a photo');
  const [block, waiting] = [world.ask(), world.ask({ input: { image: photo } })];
  photo.release();
  await answer(worker, []);
  expect(sent(worker)).toEqual([true]);
  await answer(worker, [photo]);
  expect([block.outcome, waiting.outcome]).toEqual([block.id, waiting.id]);
});

test('an input that is released while its request is under way is freed in the worker with the answer', async () => {
  const world = new World();
  const worker = await world.start();
  const photo = keep('a photo');
  const asked = world.ask({ input: { image: photo } });
  photo.release();
  expect(worker.forgotten).toEqual([]);
  await answer(worker, [photo]);
  expect([asked.outcome, worker.forgotten]).toEqual([asked.id, [photo.key]]);
});

test('what a worker keeps of an aborted request, or of one that fails, is known, and freed', async () => {
  const world = new World();
  const worker = await world.start();
  const photo = keep('a photo');
  const stop = new AbortController();
  world.ask({ input: { image: photo }, signal: stop.signal });
  stop.abort();
  await answer(worker, [photo], { rows: [], failure: errorToData(new TabServeError('aborted', 'Nobody waits.')) });
  const next = world.ask({ input: { image: photo } });
  expect(sent(worker)).toEqual([false]);
  photo.release();
  expect(worker.forgotten).toEqual([photo.key]);
  // The page has released it: the worker asks for it again, and frees it again.
  await answer(worker, [], { rows: [{ ok: false, error: lost }] });
  expect(sent(worker)).toEqual([true]);
  await answer(worker, [photo]);
  expect([next.outcome, worker.forgotten]).toEqual([next.id, [photo.key, photo.key]]);
});

test('beside what moves to the worker it is sent in full: neither can be sent again', async () => {
  const world = new World();
  const worker = await world.start();
  const photo = keep('a photo');
  world.ask({ input: { image: photo } });
  await answer(worker, [photo]);
  const mask = Uint8Array.of(1, 2);
  const asked = world.ask({ input: { image: photo, mask }, transfer: true });
  expect(worker.requests[0]!.rows).toEqual([
    { image: { keptKey: photo.key, value: 'a photo' }, mask: Uint8Array.of(1, 2) },
  ]);
  await answer(worker, [photo]);
  expect(asked.outcome).toBe(asked.id);
  // With nothing that moves, the key is enough.
  world.ask({ input: { image: photo }, transfer: true });
  expect(sent(worker)).toEqual([false]);
});

test('what cannot be copied cannot be kept; nothing is an input, too', () => {
  expect(() => keep({ image: () => {} })).toThrow(expect.objectContaining({ code: 'not-cloneable' }));
  const nothing = keep(undefined).message({ has: () => false }).value;
  expect(unwrap(nothing)).toBeUndefined();
});
