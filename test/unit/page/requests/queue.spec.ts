import { expect, test } from '@playwright/test';
import { Job } from '../../../../src/page/requests/job.ts';
import { JobQueue } from '../../../../src/page/requests/queue.ts';

const row = { message: () => undefined, replayable: true, snapshot: () => {}, rollback: () => {}, release: () => {} };

let calls = 0;
function job(
  id: string,
  { order = ++calls, priority = 0, exclusive = false, signal = undefined as AbortSignal | undefined, waited = 0 } = {},
): Job {
  const made = new Job([row], {
    order,
    request: 'predict',
    params: { id },
    priority,
    exclusive,
    signal,
    arrivedAt: 1000 - waited,
    timeout: undefined,
  });
  made.answer.catch(() => {});
  return made;
}

function queueOf(...jobs: readonly Job[]): JobQueue {
  const queue = new JobQueue();
  for (const one of jobs) queue.push(one);
  return queue;
}

function drain(queue: JobQueue, batchSize: number): string[] {
  const batches: string[] = [];
  for (;;) {
    const { jobs } = queue.take({ batchSize, maxBatchDelay: 0 }, 1000);
    if (!jobs) return batches;
    batches.push(jobs.map(({ params }) => params['id']).join(''));
  }
}

test('batches are taken by priority and then in order, and an exclusive job keeps its place', () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  expect(drain(queueOf(...names.map((name) => job(name))), 2)).toEqual(['ab', 'cd', 'e']);
  expect(
    drain(
      queueOf(job('a'), job('b', { priority: 2 }), job('c', { priority: -1 }), job('d', { priority: 2 }), job('e')),
      3,
    ),
  ).toEqual(['bda', 'ec']);
  expect(drain(queueOf(job('a'), job('b', { exclusive: true }), job('c'), job('d')), 8)).toEqual(['a', 'b', 'cd']);
  expect(drain(queueOf(job('a', { exclusive: true }), job('b')), 8)).toEqual(['a', 'b']);
});

test('a batch that is not full waits for the oldest in it, and no longer', () => {
  const queue = queueOf(job('a', { waited: 30 }), job('b', { priority: 1, waited: 5 }));
  const { jobs, dueIn } = queue.take({ batchSize: 3, maxBatchDelay: 1000 }, 1000) as { jobs: undefined; dueIn: number };
  expect(jobs).toBeUndefined();
  expect(dueIn).toBe(970);
  expect(queue.take({ batchSize: 3, maxBatchDelay: 30 }, 1000).jobs?.map(({ params }) => params['id'])).toEqual([
    'b',
    'a',
  ]);
  // One that stands alone does not wait, nor does what is before it.
  const mixed = queueOf(job('a'), job('b', { exclusive: true }));
  expect(
    [1, 2].map(() => mixed.take({ batchSize: 8, maxBatchDelay: 1000 }, 1000).jobs?.map(({ params }) => params['id'])),
  ).toEqual([['a'], ['b']]);
  expect(mixed.take({ batchSize: 8, maxBatchDelay: 1000 }, 1000)).toEqual({ jobs: undefined, dueIn: undefined });
});

test('a job whose input took long to prepare keeps the place of its call', () => {
  const queue = queueOf(
    job('b', { order: 2 }),
    job('d', { order: 4 }),
    job('a', { order: 1 }),
    job('c', { order: 3 }),
    job('e', { order: 5 }),
  );
  expect(drain(queue, 2)).toEqual(['ab', 'cd', 'e']);
});

test('an aborted job leaves the queue', () => {
  const controller = new AbortController();
  const queue = queueOf(job('a'), job('b', { priority: 7, signal: controller.signal }));
  expect(queue.size).toBe(2);
  controller.abort();
  expect(queue.size).toBe(1);
  expect(drain(queue, 8)).toEqual(['a']);
});
