import { expect, test } from '@playwright/test';
import { TabServeError } from '../../../src/contract/errors.ts';
import { TransientFailure, withRetries } from '../../../src/shared/retry.ts';
import { FakeClock, settle } from '../support/fake-clock.ts';

interface Ran {
  /** When each attempt was made, in milliseconds. */
  readonly at: readonly number[];
  readonly outcome: unknown;
}

/** Makes attempts that fail in these ways, and then succeed. Without jitter, a wait is half of what it may be. */
async function run(...failures: readonly Readonly<ConstructorParameters<typeof TransientFailure>>[]): Promise<Ran> {
  const clock = new FakeClock();
  const at: number[] = [];
  const running = withRetries(
    async () => {
      const failure = failures[at.length];
      at.push(clock.now());
      if (failure) throw new TransientFailure(...failure);
      return 'done';
    },
    { clock, random: () => 0 },
  ).catch((error: Error) => error.message);
  await settle();
  await clock.advance(600_000);
  return { at, outcome: await running };
}

const failure = new TabServeError('network', 'No answer.');

test('four retries, each after twice the time of the one before', async () => {
  expect(await run([failure], [failure], [failure], [failure])).toEqual({
    at: [0, 250, 750, 1750, 3750],
    outcome: 'done',
  });
  const { at, outcome } = await run(...Array.from({ length: 9 }, () => [failure] as const));
  expect(at).toHaveLength(5);
  expect(outcome).toBe('No answer. (after 4 retries)');
});

test('after progress, retries are counted anew', async () => {
  const { at, outcome } = await run([failure], [failure], [failure], [failure, true], [failure], [failure], [failure]);
  expect(outcome).toBe('done');
  expect(at).toEqual([0, 250, 750, 1750, 2000, 2500, 3500, 5500]);
});

test('a server’s Retry-After is waited for, if it is longer than the backoff; thirty seconds at most', async () => {
  expect(await run([failure, false, 5000])).toEqual({ at: [0, 5000], outcome: 'done' });
  expect(await run([failure, false, 100])).toEqual({ at: [0, 250], outcome: 'done' });
  expect(await run([failure, false, 30_000])).toEqual({ at: [0, 30_000], outcome: 'done' });
  expect(await run([failure, false, 30_001])).toEqual({
    at: [0],
    outcome: 'No answer. Try again in 31 s, as the server asks.',
  });
});
