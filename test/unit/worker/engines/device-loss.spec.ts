import { expect, test } from '@playwright/test';
import { TabServeError } from '../../../../src/contract/errors.ts';
import type { Tensors } from '../../../../src/contract/tensors.ts';
import { DeviceLoss, type DeviceLossOptions } from '../../../../src/worker/engines/device-loss.ts';
import { Lock, LockedSession } from '../../../../src/worker/engines/session.ts';

const FAILURE = new TabServeError('inference-failed', 'no such kernel');

/** A session whose model does what `run` does, each time. */
function sessionOf(run: () => Promise<Tensors>, options: DeviceLossOptions = {}) {
  const reported: string[] = [];
  const loss = new DeviceLoss((why) => reported.push(why), options);
  const model = { inputs: [], outputs: [], run, release: () => {} };
  return { session: new LockedSession(model, new Lock(), loss), loss, reported };
}

const failures = (work: readonly Promise<unknown>[]) =>
  Promise.all(
    work.map((one) =>
      one.then(
        () => 'answer',
        (error: TabServeError) => error.code,
      ),
    ),
  );

test('a failed run delays no other run, and leaves no listener', async () => {
  let calls = 0;
  const { session, loss } = sessionOf(() => (++calls === 1 ? Promise.reject(FAILURE) : Promise.resolve({})));
  const order: string[] = [];
  const failing = session.run({}).catch((error: TabServeError) => order.push(error.code));
  const next = session.run({}).then(() => order.push('answer'));
  await Promise.all([failing, next]);
  expect(order).toEqual(['answer', 'inference-failed']);
  expect(loss.waiting).toBe(0);
});

test('a failure that says what else is wrong is not held back', async () => {
  const { session, loss } = sessionOf(() => Promise.reject(new TabServeError('out-of-memory', 'full')));
  // Nothing is left that could be waited for once the failure is there.
  await expect(session.run({})).rejects.toMatchObject({ code: 'out-of-memory' });
  expect(await loss.explain(new TabServeError('invalid-input', 'x'))).toMatchObject({ code: 'invalid-input' });
  expect(loss.waiting).toBe(0);
});

test('a lost device rejects the pending run, explains the run that failed just before, and refuses later runs', async () => {
  let calls = 0;
  const { session, loss, reported } = sessionOf(() =>
    ++calls === 1 ? Promise.reject(FAILURE) : new Promise(() => {}),
  );
  const [failed, hanging] = [session.run({}), session.run({})];
  const codes = failures([failed, hanging]);
  // The second run is under way once the first has failed.
  await expect.poll(() => calls).toBe(2);
  loss.report();
  loss.report();
  expect(await codes).toEqual(['device-lost', 'device-lost']);
  expect(await failures([session.run({})])).toEqual(['device-lost']);
  expect([calls, reported.length, loss.waiting]).toEqual([2, 1, 0]);
});

test('a device that can be asked is asked after each run', async () => {
  let gone = false;
  const run = (): Promise<Tensors> => {
    gone = true;
    return Promise.resolve({});
  };
  const { session, reported } = sessionOf(run, { isGone: () => gone });
  expect(await failures([session.run({})])).toEqual(['device-lost']);
  expect(reported).toEqual(['The GPU was lost.']);
});

test('a failure waits for the answer of the device, which reports a loss before it, and no longer', async () => {
  for (const fails of [false, true]) {
    let answered = (): void => {};
    const roundTrip = (): Promise<void> =>
      new Promise((resolve, reject) => (answered = fails ? () => reject(new Error('lost')) : resolve));
    const { loss } = sessionOf(() => Promise.reject(FAILURE), { roundTrip });
    let told: unknown;
    const telling = loss.explain(FAILURE).then((error) => (told = error));
    await new Promise((resolve) => setImmediate(resolve));
    expect([told, loss.waiting]).toEqual([undefined, 1]);
    answered();
    // The longest wait is a timer's, which takes more than one turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    expect([told, loss.waiting]).toEqual([FAILURE, 0]);
    await telling;
  }
});

test('a failure on a device that says at once whether it is lost waits for nothing', async () => {
  const { loss } = sessionOf(() => Promise.reject(FAILURE), { isGone: () => false });
  const telling = loss.explain(FAILURE);
  expect(loss.waiting).toBe(0);
  expect(await telling).toBe(FAILURE);
});

test('a loss that is reported while the device is asked explains the failure', async () => {
  const { loss } = sessionOf(() => Promise.reject(FAILURE), { roundTrip: () => new Promise(() => {}) });
  const telling = loss.explain(FAILURE);
  loss.report();
  expect(await telling).toMatchObject({ code: 'device-lost', cause: FAILURE });
});
