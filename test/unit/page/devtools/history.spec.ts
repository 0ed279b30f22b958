import { expect, test } from '@playwright/test';
import type { Backend } from '../../../../src/contract/backends.ts';
import type { MetricsSnapshot } from '../../../../src/contract/metrics.ts';
import { TabServeError } from '../../../../src/contract/errors.ts';
import { Emitter } from '../../../../src/page/client/events.ts';
import { ClientHistory, type EventEntry } from '../../../../src/page/devtools/history.ts';
import type { ClientEvents } from '../../../../src/page/requests/sender.ts';
import { wasm } from '../../support/pool-world.ts';

interface Recorded {
  readonly client: FakeClient;
  readonly history: ClientHistory;
  readonly heard: EventEntry[];
}

const settled = (outcomes: Readonly<Record<string, number>>): MetricsSnapshot => ({
  counters: {
    ts_inference_requests_total: Object.entries(outcomes).map(([outcome, value]) => ({
      labels: { outcome },
      unit: 'Count',
      value,
    })),
  },
  gauges: {},
  histograms: {},
});

class FakeClient extends Emitter<ClientEvents> {
  readonly metrics = { snapshot: () => settled({ ok: 2, aborted: 1 }), prometheus: () => '' };
}

function recorded(): Recorded {
  const client = new FakeClient(['backendchange', 'recover', 'fail', 'warn', 'response']);
  const heard: EventEntry[] = [];
  return { client, heard, history: new ClientHistory(client, (entry) => heard.push(entry)) };
}

const answered = { rows: 1, batchSize: 1, queued: 2, timings: { preprocess: 3, inference: 40 } };

test('a request is listed with its stages, its batch and the nodes of its workflow', () => {
  const { client, history, heard } = recorded();
  client.emit('response', answered);
  client.emit('response', { ...answered, rows: 2, batchSize: 4, nodes: { faces: { inference: 7.25 } } });
  const [latest, first] = history.entries;
  expect(first).toMatchObject({
    kind: 'request',
    times: { queue: 2, preprocess: 3, inference: 40, postprocess: 0 },
    total: 45,
    text: '45 ms: queue 2 ms, preprocess 3 ms, inference 40 ms, postprocess 0 ms',
  });
  expect(latest!.text).toBe(`${first!.text}, 2 rows in a batch of 4; faces: 7.3 ms`);
  expect(heard).toEqual([]);
});

test('events are told, and many requests hide none of them', () => {
  const { client, history, heard } = recorded();
  const cause = new TabServeError('worker-lost', 'The worker ended.');
  const threaded: Backend = { ...wasm, threads: 4, precision: 'q8' };
  client.emit('backendchange', threaded);
  client.emit('recover', { backend: wasm, cause, replayed: 1, failed: 0, took: 312.4 });
  client.emit('warn', { message: 'The cache is full.' });
  client.emit('fail', cause);
  history.add('ended', 'You ended worker 1.');
  for (let i = 0; i < 100; i++) client.emit('response', answered);
  const texts = [
    'You ended worker 1.',
    'The worker ended.',
    'The cache is full.',
    'Healed on onnx/wasm, 1 thread in 312 ms, 1 request replayed, 0 failed. Lost because: The worker ended.',
    'Runs on onnx/wasm, 4 threads, q8.',
  ];
  expect(heard.map(({ text }) => text)).toEqual(texts.toReversed());
  expect(history.entries.filter(({ kind }) => kind !== 'request').map(({ text }) => text)).toEqual(texts);
  expect(history.entries.filter(({ kind }) => kind === 'request')).toHaveLength(20);
  expect(history.recoveries).toBe(1);
});

test('requests that fail are counted from the first look, and hide no event', () => {
  const { client, history } = recorded();
  client.emit('warn', { message: 'The cache is full.' });
  history.countFailures(settled({ ok: 9, aborted: 1, 'queue-full': 2 }));
  history.countFailures(settled({ ok: 9, aborted: 1, 'queue-full': 2 }));
  expect(history.entries.map(({ text }) => text)).toEqual(['2 requests ended with queue-full.', 'The cache is full.']);
  for (let count = 2; count < 100; count++) history.countFailures(settled({ ok: 9, aborted: count }));
  expect(history.entries[0]!.text).toBe('1 request ended with aborted.');
  expect(history.entries).toHaveLength(21);
  expect(history.entries.at(-1)!.text).toBe('The cache is full.');
});

test('the oldest events are forgotten, and after the end nothing is recorded', () => {
  const { client, history } = recorded();
  for (let i = 1; i <= 40; i++) client.emit('warn', { message: String(i) });
  history.close();
  client.emit('warn', { message: 'after the end' });
  client.emit('response', answered);
  expect(history.entries).toHaveLength(30);
  expect(history.entries[0]!.text).toBe('40');
});
