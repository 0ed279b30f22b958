import { expect, test } from '@playwright/test';
import type { Backend, Probe } from '../../../../src/contract/backends.ts';
import { TabServeError } from '../../../../src/contract/errors.ts';
import { VERSION } from '../../../../src/contract/version.ts';
import { diagnosis } from '../../../../src/page/client/log.ts';
import { deviceReport, withoutSecrets } from '../../../../src/page/devtools/report.ts';
import { ServingMetrics } from '../../../../src/page/metrics/client-metrics.ts';
import { wasm } from '../../support/pool-world.ts';

const probe = { cores: 8, crossOriginIsolated: false, webnn: { available: false, reason: 'None.' } } as Probe;
const skipped = [{ engine: 'onnx', name: 'webgpu', reason: 'WebGPU has no adapter here.' }] as const;

/** A client with a log; `name` if it is open. */
async function client(name: string | undefined, events: readonly string[]) {
  const metrics = new ServingMetrics(
    () => undefined,
    () => {},
  );
  await metrics.follow(1, performance.now(), async () => ['an answer that nobody else may read']);
  await metrics
    .follow(2, performance.now(), () => Promise.reject(new TabServeError('queue-full', 'It is full.')))
    .catch(() => {});
  metrics.ran(1, { timings: { inference: 4 }, handlerTime: 5, memory: 1e6 }, 6);
  const backend: Backend | undefined = name === undefined ? undefined : { ...wasm, largestError: NaN, skipped };
  const model = 'https://cdn.test/model/?token=secret';
  return {
    backend,
    probe: backend && probe,
    metrics,
    workerStatus: [],
    jobQueueStatus: { pendingRequests: 0, remainingCapacity: 1 },
    on: () => () => {},
    describe: () => (name === undefined ? Promise.reject(new Error('not open')) : Promise.resolve({ modelName: name })),
    diagnose: () => diagnosis({ model, archive: undefined, probe: backend && probe, backend, events }),
  } as never;
}

test('a report has the device, each model’s backend, times, outcomes and log; no answer, and no secret of a URL', async () => {
  const events = [
    '     12 ms  Opened https://cdn.test/model/m.onnx?token=secret: 200.',
    '     80 ms  onnx/webgpu does not run: it failed\nin two lines',
  ];
  const report = await deviceReport([await client(undefined, []), await client('digits', events)]);
  const text = JSON.stringify(report);
  expect(text).not.toContain('secret');
  expect(text).not.toContain('nobody else');
  expect(report).toMatchObject({ format: 'tabserve-device-report', formatVersion: 1, tabserve: VERSION, verdicts: [] });
  expect(new Date(report.at).toISOString()).toBe(report.at);
  expect(report.device).toEqual(probe);
  const [closed, open] = report.models;
  expect(closed).toMatchObject({ name: 'Client 1', log: [] });
  expect(closed!.backend).toBeUndefined();
  expect(open).toMatchObject({ name: 'digits', outcomes: { ok: 1, 'queue-full': 2 } });
  // JSON has no NaN, which would be null.
  expect(open!.backend).toEqual({ ...wasm, largestError: 'NaN', skipped });
  expect(open!.times['ts_handler_inference']).toMatchObject({ count: 1 });
  expect(open!.times['ts_handler_inference']!.p50).toBeCloseTo(4, 1);
  // A size is no time.
  expect(Object.keys(open!.times)).not.toContain('MemoryUsed');
  expect(Object.keys(open!.times)).not.toContain('BatchSize');
  expect(open!.log).toEqual([
    '     12 ms  Opened https://cdn.test/model/m.onnx: 200.',
    '     80 ms  onnx/webgpu does not run: it failed',
    'in two lines',
  ]);
});

test('clients of the same model are told apart', async () => {
  const { models } = await deviceReport([await client('digits', []), await client('digits', [])]);
  expect(models.map(({ name }) => name)).toEqual(['digits', 'digits (2)']);
});

const TEXTS: readonly (readonly [text: string, expected: string])[] = [
  ['https://a.test/m.onnx?sig=1&exp=2#part', 'https://a.test/m.onnx'],
  [
    'Got 404 of https://a.test/m?sig=1, and (https://b.test/?KEY).',
    'Got 404 of https://a.test/m, and (https://b.test/).',
  ],
  ['"https://a.test/x#token" is wrong', '"https://a.test/x" is wrong'],
  ['https://user:password@a.test/m.onnx', 'https://a.test/m.onnx'],
  ['/models/m.onnx?token=abc: no such file', '/models/m.onnx: no such file'],
  ['data:image/png;base64,iVBORw0KGgo=', 'data:…'],
  ['Is it there? Is a=b?', 'Is it there? Is a=b?'],
];
for (const [text, expected] of TEXTS)
  test(`without secrets: ${text}`, () => expect(withoutSecrets(text)).toBe(expected));
