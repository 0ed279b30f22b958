import { expect, test } from '@playwright/test';
import { TabServeError } from '../../../../src/contract/errors.ts';
import { endsAll, StepSchedule } from '../../../../src/worker/generation/step-schedule.ts';

/** Steps that answer with the row's name in capitals, and a timer that fires when the test says so. */
function world() {
  const steps: string[] = [];
  let timer: (() => void) | undefined;
  let release = (): void => {};
  let gate: Promise<void> | undefined;
  const schedule = new StepSchedule<string, string, string>(
    async (waiting) => {
      steps.push(waiting.map(({ row }) => row).join(''));
      await gate;
      for (const { value, resolve } of waiting) resolve(value.toUpperCase());
    },
    (run) => {
      timer = run;
      return () => (timer = undefined);
    },
  );
  return {
    schedule,
    steps,
    fire: () => timer!(),
    hold: () => (gate = new Promise((resolve) => (release = resolve))),
    release: () => release(),
  };
}

test('a step runs as soon as all rows of the last one wait for it', async () => {
  const { schedule, steps, hold, release } = world();
  hold();
  const first = schedule.next('a', 'one');
  // They come while it runs.
  const others = [schedule.next('b', 'two'), schedule.next('c', 'three')];
  release();
  expect(await first).toBe('ONE');
  expect(steps).toEqual(['a']);
  const again = schedule.next('a', 'four');
  expect(await Promise.all([...others, again])).toEqual(['TWO', 'THREE', 'FOUR']);
  expect(steps).toEqual(['a', 'bca']);
});

test('a row that left is not waited for; one that is late is, until the timer fires', async () => {
  const { schedule, steps, fire, hold, release } = world();
  hold();
  const begun = schedule.next('a', 'x');
  const others = ['b', 'c'].map((row) => schedule.next(row, 'x'));
  release();
  await begun;
  const all = [schedule.next('a', 'x'), ...others];
  await Promise.all(all);
  expect(steps).toEqual(['a', 'bca']);
  const next = schedule.next('a', 'x');
  schedule.leave('b');
  expect(steps).toHaveLength(2);
  schedule.leave('c');
  await next;
  expect(steps).toEqual(['a', 'bca', 'a']);

  const pair = [schedule.next('a', 'x'), schedule.next('d', 'x')];
  await Promise.all(pair);
  const slow = schedule.next('d', 'x');
  const quick = schedule.next('e', 'x');
  fire();
  await Promise.all([slow, quick]);
  expect(steps.at(-1)).toBe('de');
});

test('only the loss of what computes, or of those who wait, ends all rows of a step', () => {
  const codes = ['aborted', 'disposed', 'device-lost', 'worker-lost', 'out-of-memory'] as const;
  for (const code of codes) expect(endsAll(new TabServeError(code, 'It ended.')), code).toBe(true);
  expect(endsAll(new TabServeError('inference-failed', 'Reshape'))).toBe(false);
  expect(endsAll(new RangeError('1'))).toBe(false);
});
