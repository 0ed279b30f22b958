import { expect, test } from './fixtures.ts';

test('a handler’s metrics and the client’s own arrive in the snapshot, and nowhere else @once', async ({
  open,
  page,
}) => {
  const origins = new Set<string>();
  const sent: string[] = [];
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== 'data:') origins.add(origin);
    if (request.method() !== 'GET') sent.push(request.url());
  });
  await open();
  const warnings: string[] = [];
  page.on('console', (message) => message.type() === 'warning' && warnings.push(message.text()));
  const seen = await page.evaluate(async () => {
    const { tabserve, workers, failure } = window;
    const client = tabserve.connect(workers.counting, { model: '/test/models/affine.onnx', backends: ['wasm'] });
    const before = client.metrics.snapshot();
    await client.initialize();
    const row = { data: Float32Array.of(1, 2, 3, 4), dims: [4] };
    await client.predict(row as never);
    await client.handle([row, row, row] as never);
    const failed = [
      await failure(client.predict(row as never, { params: { fail: true } })),
      await failure(client.predict(row as never, { timeout: -1 })),
    ];
    const refused = [];
    for (const wrong of [-1, NaN]) refused.push(await failure(client.predict(row as never, { params: { wrong } })));
    await client.describe();
    await client.predict(row as never, { params: { users: 10_000 } });
    const result = { before, after: client.metrics.snapshot(), text: client.metrics.prometheus(), failed, refused };
    await client.dispose();
    return result;
  });
  expect(seen.before).toEqual({ counters: {}, gauges: {}, histograms: {} });
  expect(seen.failed.map(({ code }) => code)).toEqual(['handler-failed', 'invalid-input']);
  for (const { code, stage, message } of seen.refused) {
    expect([code, stage]).toEqual(['invalid-input', 'preprocess']);
    expect(message).toContain('"Rows"');
  }
  const { counters, gauges, histograms } = seen.after;
  expect(counters['Initialized']).toEqual([{ labels: {}, unit: 'count', value: 1 }]);
  // Batches of 1, 3, 1 that failed, two of 1 whose metric was refused after these, and 1.
  expect(counters['Rows']).toEqual([{ labels: { kind: 'tensor' }, unit: 'count', value: 8 }]);
  expect(counters['Refused']).toEqual([{ labels: { Level: 'Error', error: 'asked to' }, unit: 'count', value: 1 }]);
  expect(gauges['Altitude']).toEqual([{ labels: {}, unit: 'm', value: -3 }]);
  expect(histograms['Waiting']![0]).toMatchObject({ labels: {}, unit: 'ms', count: 6, sum: 30 });
  expect(Math.abs(histograms['Waiting']![0]!.p99 - 5)).toBeLessThanOrEqual(0.05);
  expect(histograms['Input']![0]).toMatchObject({ unit: 'B', sum: 48 });
  expect(histograms['Fill']![0]).toMatchObject({ unit: 'percent', count: 6 });
  expect(counters['Visits']).toHaveLength(101);
  expect(counters['Visits']!.at(-1)).toMatchObject({ labels: { other: 'true' }, value: 9900 });
  expect(warnings.filter((warning) => warning.includes('Visits'))).toHaveLength(1);

  const outcomes = Object.fromEntries(
    counters['ts_inference_requests_total']!.map(({ labels, value }) => [labels['outcome'], value]),
  );
  expect(outcomes, 'describe is no inference').toEqual({ ok: 5, 'handler-failed': 1, 'invalid-input': 3 });
  expect(counters['BackendChanges']).toEqual([{ labels: { Backend: 'onnx/wasm' }, unit: 'Count', value: 1 }]);
  const counts = Object.fromEntries(Object.entries(histograms).map(([name, [series]]) => [name, series!.count]));
  expect(counts).toMatchObject({
    BatchSize: 6,
    PredictionTime: 6,
    HandlerTime: 6,
    WorkerThreadTime: 6,
    ts_handler_preprocess: 6,
    ts_handler_inference: 3,
    ts_handler_postprocess: 3,
    RequestTime: 5,
    WorkerLoadTime: 1,
  });
  expect(histograms['BatchSize']![0]!.sum).toBe(8);
  const sum = (name: string) => histograms[name]![0]!.sum;
  expect(sum('PredictionTime')).toBeGreaterThanOrEqual(sum('HandlerTime'));
  expect(sum('HandlerTime')).toBeGreaterThanOrEqual(
    sum('ts_handler_preprocess') + sum('ts_handler_inference') + sum('ts_handler_postprocess') - 1,
  );
  expect(seen.text).toMatch(
    /^ts_inference_requests_total\{model_name="affine",model_version="[^"]+",outcome="ok"\} 5$/m,
  );
  expect(seen.text).toMatch(/^Rows\{ModelName="affine",Level="Model",kind="tensor"\} 8$/m);

  expect([...origins]).toEqual([new URL(page.url()).origin]);
  expect(sent).toEqual([]);
});

test('each stage is a measure in the performance panel, whoever overrides it @once', async ({
  open,
  browser,
  browserName,
  page,
}) => {
  test.skip(browserName !== 'chromium', 'Playwright traces Chromium alone');
  await open();
  await browser.startTracing(page, { categories: ['blink.user_timing'] });
  await page.evaluate(async () => {
    const client = window.tabserve.connect(window.workers.counting, {
      model: '/test/models/affine.onnx',
      backends: ['wasm'],
    });
    await client.initialize();
    await client.predict({ data: Float32Array.of(1, 2, 3, 4), dims: [4] } as never);
    await client.dispose();
  });
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as {
    traceEvents: { name: string; ph: string }[];
  };
  const measures = traceEvents
    .filter(({ name, ph }) => /^tabserve (initialize|preprocess|inference|postprocess)$/.test(name) && ph === 'b')
    .map(({ name }) => name);
  // The first inference is the warm-up; the override of preprocess calls super, and counts once.
  expect(measures).toEqual([
    'tabserve initialize',
    'tabserve inference',
    'tabserve preprocess',
    'tabserve inference',
    'tabserve postprocess',
  ]);
});

test('a response event has its batch size and its time in the queue; jobQueueStatus says how full the queue is @once', async ({
  open,
  page,
}) => {
  await open();
  const seen = await page.evaluate(async () => {
    const { tabserve, workers } = window;
    const client = tabserve.connect(workers.counting, {
      model: '/test/models/affine.onnx',
      backends: ['wasm'],
      batchSize: 3,
      jobQueueSize: 10,
    });
    await client.initialize();
    const responses: { readonly rows: number; readonly batchSize: number; readonly queued: number }[] = [];
    client.on('response', (response) => responses.push(response));
    const row = { data: Float32Array.of(1, 2, 3, 4), dims: [4] };
    const sent = performance.now();
    const answers = [
      client.handle([row, row] as never),
      ...Array.from({ length: 5 }, () => client.predict(row as never)),
    ];
    const full = client.jobQueueStatus;
    await Promise.all(answers);
    const took = performance.now() - sent;
    const described = (await client.describe()).jobQueueStatus;
    const result = {
      responses,
      full,
      took,
      described,
      histogram: client.metrics.snapshot().histograms['QueueTime']![0]!,
    };
    await client.dispose();
    return result;
  });
  // The batch as given is with the worker, and three that are one full batch.
  expect(seen.full).toEqual({ remainingCapacity: 8, pendingRequests: 2 });
  expect(seen.described).toEqual({ remainingCapacity: 10, pendingRequests: 0 });
  expect(seen.responses.map(({ rows, batchSize }) => `${rows} of ${batchSize}`)).toEqual([
    '2 of 2',
    '1 of 3',
    '1 of 3',
    '1 of 3',
    '1 of 2',
    '1 of 2',
  ]);
  const queued = seen.responses.map((response) => response.queued);
  expect(Math.min(...queued)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...queued)).toBeLessThan(seen.took);
  expect(queued.reduce((sum, one) => sum + one, 0)).toBeCloseTo(seen.histogram.sum, 6);
});
