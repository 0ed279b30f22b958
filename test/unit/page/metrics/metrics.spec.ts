import { expect, test } from '@playwright/test';
import type { Backend } from '../../../../src/contract/backends.ts';
import type { Metrics, MetricType, Observation } from '../../../../src/contract/metrics.ts';
import { PredictionError, TabServeError } from '../../../../src/contract/errors.ts';
import { Definitions } from '../../../../src/shared/metrics/definitions.ts';
import { instrument, Recorder } from '../../../../src/worker/host/recorder.ts';
import { MAX_SERIES, Registry } from '../../../../src/page/metrics/families.ts';
import { ServingMetrics } from '../../../../src/page/metrics/client-metrics.ts';
import { Sketch } from '../../../../src/page/metrics/sketch.ts';
import { BaseHandler, createTestContext, type Context, type Tensors } from '../../../../src/worker.ts';
import { random } from '../../../random.ts';
import { stubSession } from '../../support/stub-session.ts';

/** Gaussian noise, by Box and Muller. */
const normal = (next: () => number) => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());

const QS = [0.5, 0.95, 0.99];
/** The value at rank ⌊q (n − 1)⌋, from all of them. */
const exact = (values: readonly number[], q: number) =>
  [...values].sort((a, b) => a - b)[Math.floor(q * (values.length - 1))]!;

const distributions: Readonly<Record<string, (next: () => number) => number>> = {
  'even latencies of 1 to 2 ms': (next) => 1 + next(),
  'log-normal latencies with a long tail': (next) => Math.exp(2 + 1.5 * normal(next)),
  'two peaks far apart': (next) => (next() < 0.9 ? 0.05 + 0.01 * next() : 5000 + 100 * next()),
  'Pareto, of infinite variance': (next) => (1 - next()) ** -1,
  'sizes of 1 to 32': (next) => 1 + Math.floor(32 * next()),
};

for (const [name, draw] of Object.entries(distributions)) {
  test(`quantiles are within 1 % of the exact ones: ${name}`, () => {
    for (const count of [1, 2, 3, 100, 20_000]) {
      const next = random(count);
      const values = Array.from({ length: count }, () => draw(next));
      const sketch = new Sketch();
      for (const value of values) sketch.add(value);
      for (const [index, q] of QS.entries()) {
        const truth = exact(values, q);
        // 1 %, and the rounding of a logarithm at the border of two buckets.
        expect(
          Math.abs(sketch.quantiles(...QS)[index]! - truth) / truth,
          `p${q * 100} of ${count}`,
        ).toBeLessThanOrEqual(0.01 + 1e-9);
      }
      expect(sketch.count).toBe(count);
      expect(sketch.sum / values.reduce((sum, value) => sum + value, 0)).toBeCloseTo(1, 12);
    }
  });
}

test('the quantiles of one value, however often, are this value: a batch of one row has no size of 0.99', () => {
  for (const value of [1, 8, 0.1, 1863.7, 3e-7]) {
    const sketch = new Sketch();
    for (let count = 0; count < 3; count++) sketch.add(value);
    expect(sketch.quantiles(0, 0.5, 1)).toEqual([value, value, value]);
  }
});

test('zeros, the unmeasurably small and the enormous have their place', () => {
  const sketch = new Sketch();
  expect(sketch.quantiles(0.5)).toEqual([NaN]);
  for (const value of [0, 0, 0, 1e-12, Number.MIN_VALUE]) sketch.add(value);
  expect(sketch.quantiles(0, 0.5, 1)).toEqual([0, 0, 0]);
  sketch.add(Number.MAX_VALUE);
  expect(sketch.quantiles(0.5)).toEqual([0]);
  expect(Math.abs(sketch.quantiles(1)[0]! / 1e15 - 1)).toBeLessThan(0.011);
});

test('the six methods record what they are given, with their units and labels', () => {
  const { metrics } = createTestContext();
  const labels = { species: 'owl' };
  metrics.addCounter('Birds');
  metrics.addCounter('Birds', 3, { labels });
  metrics.addTime('Flight', 12.5);
  metrics.addTime('Migration', 3, { unit: 's' });
  metrics.addSize('Nest', 0.5);
  metrics.addSize('Egg', 90, { unit: 'kB' });
  metrics.addPercent('Hatched', 80);
  metrics.addError('Lost', 'the cat', { labels });
  metrics.addMetric('Distance', 7, { unit: 'km' });
  metrics.addMetric('Altitude', -3, { unit: 'm', type: 'gauge' });
  labels.species = 'changed afterwards';
  expect(metrics.observations).toEqual([
    { name: 'Birds', type: 'counter', unit: 'count', value: 1 },
    { name: 'Birds', type: 'counter', unit: 'count', value: 3, labels: { species: 'owl' } },
    { name: 'Flight', type: 'histogram', unit: 'ms', value: 12.5 },
    { name: 'Migration', type: 'histogram', unit: 's', value: 3 },
    { name: 'Nest', type: 'histogram', unit: 'MB', value: 0.5 },
    { name: 'Egg', type: 'histogram', unit: 'kB', value: 90 },
    { name: 'Hatched', type: 'histogram', unit: 'percent', value: 80 },
    {
      name: 'Lost',
      type: 'counter',
      unit: 'count',
      value: 1,
      labels: { species: 'owl', Level: 'Error', error: 'the cat' },
    },
    { name: 'Distance', type: 'counter', unit: 'km', value: 7 },
    { name: 'Altitude', type: 'gauge', unit: 'm', value: -3 },
  ]);
  expect(createTestContext().metrics.observations, 'nothing is shared between contexts').toEqual([]);
});

const wrong: readonly (readonly [string, (metrics: Metrics) => void, RegExp])[] = [
  ['a negative counter', (m) => m.addCounter('Birds', -1), /"Birds".*below 0.*-1/],
  ['NaN', (m) => m.addTime('Flight', NaN), /"Flight".*finite.*NaN/],
  ['∞', (m) => m.addSize('Nest', Infinity), /"Nest".*finite.*Infinity/],
  ['−∞ for a gauge', (m) => m.addMetric('Altitude', -Infinity, { unit: 'm', type: 'gauge' }), /"Altitude".*finite/],
  ['a negative time', (m) => m.addTime('Flight', -0.1), /"Flight".*below 0/],
  ['a string for a number', (m) => m.addCounter('Birds', '3' as never), /"Birds".*finite.*3/],
  ['a name with a space', (m) => m.addCounter('Birds seen'), /"Birds seen".*letters/],
  ['no name', (m) => m.addCounter(''), /"".*letters/],
  [
    'a label name with a dash',
    (m) => m.addCounter('Birds', 1, { labels: { 'wing-span': '1' } }),
    /"Birds".*"wing-span"/,
  ],
  [
    'a label that Prometheus keeps',
    (m) => m.addCounter('Birds', 1, { labels: { __name__: 'x' } }),
    /"Birds".*"__name__"/,
  ],
  [
    'a label that TabServe sets',
    (m) => m.addCounter('Birds', 1, { labels: { quantile: '0.5' } }),
    /"Birds".*quantile is set by TabServe/,
  ],
  [
    'a label of a number',
    (m) => m.addCounter('Birds', 1, { labels: { age: 3 as never } }),
    /"Birds".*age must be a string/,
  ],
  ['a unit that is none', (m) => m.addTime('Flight', 1, { unit: 'min' as never }), /"Flight".*ms, s.*min/],
  [
    'a type that is none',
    (m) => m.addMetric('Birds', 1, { unit: 'x', type: 'summary' as never }),
    /"Birds".*counter, gauge, histogram.*summary/,
  ],
  ['no unit', (m) => m.addMetric('Birds', 1, undefined as never), /"Birds".*expected a unit/],
  [
    'two types of one name',
    (m) => (m.addCounter('Birds'), m.addTime('Birds', 1)),
    /"Birds".*counter in count.*histogram in ms/,
  ],
  [
    'two units of one name',
    (m) => (m.addTime('Flight', 1), m.addTime('Flight', 1, { unit: 's' })),
    /"Flight".*histogram in ms.*histogram in s/,
  ],
  ['the name of a built-in metric', (m) => m.addTime('HandlerTime', 1), /"HandlerTime".*by itself/],
  [
    'the name of a histogram’s line',
    (m) => (m.addTime('Flight', 1), m.addCounter('Flight_count')),
    /"Flight_count".*Flight /,
  ],
  [
    'a histogram with such a line',
    (m) => (m.addCounter('Flight_sum'), m.addTime('Flight', 1)),
    /"Flight".*Flight_sum /,
  ],
];

for (const [what, record, message] of wrong) {
  test(`refused in the handler's own call: ${what}`, () => {
    const recorder = new Recorder();
    const before = recorder.observations.length;
    const error = caught(() => record(recorder));
    expect(error).toBeInstanceOf(TabServeError);
    expect(error.code).toBe('invalid-input');
    expect(error.message).toMatch(message);
    expect(recorder.observations.length - before, 'what was right stays recorded').toBeLessThanOrEqual(1);
  });
}

function caught(work: () => unknown): TabServeError {
  try {
    work();
  } catch (error) {
    return error as TabServeError;
  }
  throw new Error('expected a failure');
}

test('what a metric is holds for all batches of a handler, and names are bounded', () => {
  const definitions = new Definitions();
  new Recorder(definitions).addCounter('Birds');
  expect(() => new Recorder(definitions).addPercent('Birds', 1)).toThrow(/"Birds"/);
  const error = caught(() => {
    for (let index = 0; index < 10_000; index++) new Recorder(definitions).addCounter(`Bird_${index}`);
  });
  expect(error.message).toMatch(/"Bird_499".*500 metrics already/);
  new Recorder(definitions).addCounter('Birds');
});

test('ten thousand label values: a hundred series, one for the rest, and one warning', () => {
  const warnings: string[] = [];
  const registry = new Registry((message) => warnings.push(message));
  for (let index = 0; index < 10_000; index++) {
    registry.record({ name: 'Visits', type: 'counter', unit: 'count', value: 2, labels: { user: String(index) } });
    registry.record({ name: 'Stay', type: 'histogram', unit: 'ms', value: 1, labels: { user: String(index) } });
  }
  registry.record({ name: 'Visits', type: 'counter', unit: 'count', value: 5, labels: { user: '7' } });
  const { counters, histograms } = registry.snapshot();
  expect(MAX_SERIES).toBe(100);
  expect(counters['Visits']).toHaveLength(101);
  expect(counters['Visits']!.at(-1)).toEqual({ labels: { other: 'true' }, unit: 'count', value: 2 * 9900 });
  expect(counters['Visits']![7], 'a series that is kept goes on').toEqual({
    labels: { user: '7' },
    unit: 'count',
    value: 7,
  });
  expect(histograms['Stay']!.at(-1)).toMatchObject({ labels: { other: 'true' }, count: 9900, sum: 9900 });
  expect(warnings).toHaveLength(2);
  expect(warnings[0]).toContain('Visits');
});

test('labels in another order are the same series; similar values are different series', () => {
  const registry = new Registry(() => {});
  const add = (labels: Record<string, string>) =>
    registry.record({ name: 'N', type: 'counter', unit: 'count', value: 1, labels });
  for (const labels of [{ a: '1', b: '2' }, { b: '2', a: '1' }, { a: '1' }, { a: '1\nb\n2' }, { a: '1","b' }, {}])
    add(labels as Record<string, string>);
  expect(registry.snapshot().counters['N']!.map(({ labels, value }) => [labels, value])).toEqual([
    [{ a: '1', b: '2' }, 2],
    [{ a: '1' }, 1],
    [{ a: '1\nb\n2' }, 1],
    [{ a: '1","b' }, 1],
    [{}, 1],
  ]);
});

test('a registry refuses invalid observations, and keeps its earlier ones', () => {
  const registry = new Registry(() => {});
  const good: Observation = { name: 'N', type: 'gauge', unit: 'm', value: -2 };
  registry.record(good);
  for (const bad of [
    { ...good, value: NaN },
    { ...good, type: 'counter' as MetricType, value: 1 },
    { ...good, name: '0' },
  ])
    expect(() => registry.record(bad)).toThrow(TabServeError);
  registry.record({ ...good, value: 4 });
  expect(registry.snapshot()).toEqual({
    counters: {},
    gauges: { N: [{ labels: {}, unit: 'm', value: 4 }] },
    histograms: {},
  });
});

const WASM: Backend = { engine: 'onnx', name: 'wasm', threads: 1, proof: 'golden', skipped: [] };

async function served(warn: (message: string) => void = () => {}): Promise<ServingMetrics> {
  const metrics = new ServingMetrics(() => ({ modelName: 'a "bird"\\model', modelVersion: '2.1' }), warn);
  metrics.loaded(WASM, 120);
  metrics.changed(WASM);
  for (const roundTrip of [10, 20, 30]) {
    const timings = { preprocess: 2, inference: 4, postprocess: 1 };
    metrics.ran(2, { timings, handlerTime: 8, memory: 3_500_000 }, roundTrip);
    metrics.queued(roundTrip / 10);
  }
  const failed = new PredictionError('image-decode', 'no image');
  await metrics.follow(3, performance.now(), () => Promise.resolve([1, failed, 2]));
  const refused = new TabServeError('timeout', 'too late');
  expect(
    await metrics.follow(2, performance.now(), () => Promise.reject(refused)).catch((error: unknown) => error),
    'the error passes',
  ).toBe(refused);
  const strange = { labels: { note: 'two\nlines, "quoted" \\ {braces} = and a comma,' } };
  const recorder = new Recorder();
  recorder.addCounter('Birds', 3, strange);
  recorder.addError('Lost', 'the cat');
  recorder.addMetric('Altitude', -1e-7, { unit: 'm', type: 'gauge' });
  metrics.recorded(recorder.observations);
  return metrics;
}

test('the metrics that a client records by itself', async () => {
  const { counters, gauges, histograms } = (await served()).snapshot();
  expect(counters['ts_inference_requests_total']!.map(({ labels, value }) => [labels['outcome'], value])).toEqual([
    ['ok', 2],
    ['image-decode', 1],
    ['timeout', 2],
  ]);
  expect(counters['BackendChanges']).toEqual([{ labels: { Backend: 'onnx/wasm' }, unit: 'Count', value: 1 }]);
  expect(counters['ts_queue_latency_microseconds']![0]!.value).toBeCloseTo(6000, 6);
  expect(gauges['MemoryUsed']![0]).toEqual({ labels: {}, unit: 'Megabytes', value: 3.5 });
  const sums = Object.fromEntries(
    Object.entries(histograms).map(([name, [series]]) => [name, [series!.count, series!.sum]]),
  );
  expect(sums).toMatchObject({
    BatchSize: [3, 6],
    PredictionTime: [3, 60],
    HandlerTime: [3, 24],
    WorkerThreadTime: [3, 36],
    QueueTime: [3, 6],
    WorkerLoadTime: [1, 120],
    ts_handler_preprocess: [3, 6],
    ts_handler_inference: [3, 12],
    ts_handler_postprocess: [3, 3],
  });
  expect(sums['RequestTime']![0]).toBe(2);
  const { p50, p95, p99 } = histograms['PredictionTime']![0]!;
  for (const [found, truth] of [
    [p50, 20],
    [p95, 20],
    [p99, 20],
  ] as const)
    expect(Math.abs(found - truth)).toBeLessThanOrEqual(0.2);
  expect(JSON.parse(JSON.stringify(histograms)), 'plain data').toEqual(histograms);
});

test('many requests: each is in the snapshot, and in the text, however many came since the last one', async () => {
  const metrics = new ServingMetrics(
    () => undefined,
    () => {},
  );
  let seen = 0;
  for (const more of [1, 200, 999]) {
    for (let request = 0; request < more; request++) {
      await metrics.follow(1, performance.now(), () => Promise.resolve([request]));
      metrics.ran(1, { timings: { inference: 4 }, handlerTime: 5, memory: 0 }, 7);
    }
    seen += more;
    const { counters, histograms } = metrics.snapshot();
    expect(counters['ts_inference_requests_total']![0]!.value).toBe(seen);
    expect(histograms['RequestTime']![0]!.count).toBe(seen);
    expect(histograms['ts_handler_inference']![0]!.sum).toBe(4 * seen);
    metrics.queued(1);
    expect(metrics.prometheus()).toMatch(/^QueueTime_count/m);
  }
});

test('a metric that a later worker records with another type: one warning, and requests continue', () => {
  const warnings: string[] = [];
  const metrics = new ServingMetrics(
    () => undefined,
    (message) => warnings.push(message),
  );
  const [first, second] = [new Recorder(), new Recorder()];
  first.addCounter('Birds');
  second.addTime('Birds', 1);
  second.addCounter('Cats');
  for (const { observations } of [first, second, second]) metrics.recorded(observations);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain('"Birds"');
  expect(metrics.snapshot().counters['Cats']![0]!.value).toBe(2);
});

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * Prometheus' text format 0.0.4, by its grammar and nothing looser: HELP, TYPE, then that metric's lines; no line
 * twice.
 */
function parsed(text: string): Readonly<Record<string, { type: string; help: string; samples: Sample[] }>> {
  const metrics: Record<string, { type: string; help: string; samples: Sample[] }> = {};
  const seen = new Set<string>();
  if (!text.endsWith('\n')) throw new Error('the last line must end');
  let current = '';
  for (const line of text.slice(0, -1).split('\n')) {
    const help = /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/.exec(line);
    const type = /^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|summary)$/.exec(line);
    if (help) {
      current = help[1]!;
      if (metrics[current]) throw new Error(`${current} comes twice`);
      metrics[current] = { type: '', help: help[2]!, samples: [] };
    } else if (type) {
      if (type[1] !== current || metrics[current]!.type !== '' || metrics[current]!.samples.length > 0)
        throw new Error(`out of place: ${line}`);
      metrics[current]!.type = type[2]!;
    } else {
      const sample = sampleOf(line);
      const base = metrics[current]!.type === 'summary' ? sample.name.replace(/_(sum|count)$/, '') : sample.name;
      if (base !== current || metrics[current]!.type === '') throw new Error(`out of place: ${line}`);
      const identity = JSON.stringify([sample.name, Object.entries(sample.labels).sort()]);
      if (seen.has(identity)) throw new Error(`twice: ${line}`);
      seen.add(identity);
      metrics[current]!.samples.push(sample);
    }
  }
  return metrics;
}

function sampleOf(line: string): Sample {
  const [, name, rest] = /^([a-zA-Z_:][a-zA-Z0-9_:]*)\{(.*)$/.exec(line)!;
  const labels: Record<string, string> = {};
  let left = rest!;
  while (!left.startsWith('}')) {
    const [whole, label, value] = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)"/.exec(left)!;
    if (Object.hasOwn(labels, label!)) throw new Error(`the label ${label} twice in: ${line}`);
    labels[label!] = value!.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
    left = left.slice(whole.length);
    if (left.startsWith(',')) left = left.slice(1);
    else if (!left.startsWith('}')) throw new Error(`no comma in: ${line}`);
  }
  const value = /^\} (NaN|[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)$/.exec(left)![1]!;
  return { name: name!, labels, value: Number(value) };
}

test('Prometheus text has the recorded metrics, with TorchServe’s names and labels', async () => {
  const metrics = await served();
  const { counters, gauges, histograms } = metrics.snapshot();
  const text = parsed(metrics.prometheus());
  const model = { ModelName: 'a "bird"\\model', Level: 'Model' };
  const frontend = { model_name: 'a "bird"\\model', model_version: '2.1' };
  expect(Object.keys(text).sort()).toEqual(
    [...Object.keys(counters), ...Object.keys(gauges), ...Object.keys(histograms)].sort(),
  );
  expect(text['ts_inference_requests_total']).toMatchObject({
    type: 'counter',
    samples: [
      { labels: { ...frontend, outcome: 'ok' }, value: 2 },
      { labels: { ...frontend, outcome: 'image-decode' }, value: 1 },
      { labels: { ...frontend, outcome: 'timeout' }, value: 2 },
    ],
  });
  expect(text['ts_queue_latency_microseconds']!.samples).toEqual([
    {
      name: 'ts_queue_latency_microseconds',
      labels: frontend,
      value: counters['ts_queue_latency_microseconds']![0]!.value,
    },
  ]);
  expect(text['ts_inference_latency_microseconds']!.type).toBe('counter');
  const { p50, p95, p99 } = histograms['HandlerTime']![0]!;
  expect(text['HandlerTime']).toMatchObject({
    type: 'summary',
    samples: [
      { name: 'HandlerTime', labels: { ...model, quantile: '0.5' }, value: p50 },
      { name: 'HandlerTime', labels: { ...model, quantile: '0.95' }, value: p95 },
      { name: 'HandlerTime', labels: { ...model, quantile: '0.99' }, value: p99 },
      { name: 'HandlerTime_sum', labels: model, value: 24 },
      { name: 'HandlerTime_count', labels: model, value: 3 },
    ],
  });
  for (const name of ['QueueTime', 'PredictionTime', 'WorkerThreadTime', 'WorkerLoadTime'])
    expect(text[name]!.type).toBe('summary');
  expect(text['Birds']!.samples).toEqual([
    { name: 'Birds', labels: { ...model, note: 'two\nlines, "quoted" \\ {braces} = and a comma,' }, value: 3 },
  ]);
  expect(text['Lost']!.samples).toEqual([
    { name: 'Lost', labels: { ModelName: 'a "bird"\\model', Level: 'Error', error: 'the cat' }, value: 1 },
  ]);
  expect(text['Altitude']).toMatchObject({ type: 'gauge', samples: [{ value: -1e-7 }] });
});

test('a client that has done nothing has nothing to tell', () => {
  const metrics = new ServingMetrics(
    () => undefined,
    () => {},
  );
  expect(metrics.snapshot()).toEqual({ counters: {}, gauges: {}, histograms: {} });
  expect(metrics.prometheus()).toBe('');
});

test('an override that calls super is timed once, and a stage of its own name once a call', async () => {
  class Slow extends BaseHandler {
    override async inference(inputs: Tensors, context: Context): Promise<Tensors> {
      context.metrics.addTime('inference', 1);
      return await super.inference(inputs, context);
    }
  }
  const info = (name: string) => ({ name, dtype: 'float32', dims: ['batch', 1] }) as const;
  const session = stubSession([info('x')], [info('y')], ({ x }) => ({ y: x! }));
  const handler = new Slow();
  instrument(handler);
  await handler.initialize(createTestContext({ session }));
  const context = createTestContext({ session });
  const ran: string[] = [];
  context.metrics.ran = (stage) => void ran.push(stage);
  await handler.handle([{ data: Float32Array.of(1), dims: [1] }], context);
  expect(ran).toEqual(['preprocess', 'inference', 'postprocess']);
  expect(context.metrics.observations, 'a metric of a stage’s name is another thing').toEqual([
    { name: 'inference', type: 'histogram', unit: 'ms', value: 1 },
  ]);
});
