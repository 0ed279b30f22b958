import { DEVTOOLS_ONLY, expect, test } from './fixtures.ts';
import { goldens, readGoldens, valuesOf } from './goldens.ts';
import { watchHeaps } from './heaps.ts';

test.skip(({ browserName }) => browserName !== 'chromium', DEVTOOLS_ONLY);

/**
 * Requests that come at random times, however those before them fare: at half of what the client can do, at all of it,
 * and at three times as much. `npm run load -- --requests N` sends any number of them, on every backend; the suite
 * sends a few, on WASM alone.
 */
const REQUESTS = Number(process.env['LOAD_REQUESTS'] ?? 600);
const SEED = Number(process.env['LOAD_SEED'] ?? 1);

/** What is sent a second over what can be answered, and the part of the requests that comes so. */
const PHASES = [
  { times: 0.5, share: 1 / 4 },
  { times: 1, share: 1 / 4 },
  { times: 3, share: 1 / 2 },
] as const;

const BATCH_SIZE = 8;

/**
 * The machine does other work too: an accepted request may take this many times as long as the measured capacity says.
 */
const TIMEOUT_FACTOR = 8;

/**
 * Bytes by which a heap may grow: caches, compiled code, the metrics' series. A leak of 100 bytes for each of 10,000
 * requests is twice as much.
 */
const MAX_GROWTH = 500_000;

interface Case {
  readonly x: readonly number[];
  readonly y: readonly number[];
}

interface Phase {
  readonly offered: number;
  /** Answers and error codes, counted. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly requests: number;
  readonly wrong: readonly string[];
  /** Refusals that came later than in the task of the call. */
  readonly slowRefusals: number;
  readonly refusal: string;
  /** Milliseconds of the answered ones, from the call. */
  readonly p50: number;
  readonly p99: number;
  readonly longest: number;
}

/**
 * What is served. Twelve layers of 2048 where the worker is on the CPU: so that it is the worker that is busy, and not
 * the page. The queue holds what comes in some tenths of a second: when a machine pauses for as long, nothing is
 * refused that otherwise would not be.
 */
const SETUPS = {
  wasm: { model: '/bench/model/mlp/mlp.onnx', jobQueueSize: 80 },
  webgl: { model: '/test/models/affine_fixed.onnx', jobQueueSize: 400 },
  webgpu: { model: '/test/models/affine.onnx', jobQueueSize: 400 },
} as const;

function casesOf(backend: keyof typeof SETUPS): readonly Case[] {
  if (backend === 'wasm') {
    const { y } = readGoldens<{ y: number[][] }>('../../bench/model/mlp/golden.json');
    return y.map((answer, index) => ({
      x: Array.from({ length: 2048 }, (_, k) => ((7 * k + 131 * index) % 1000) / 500 - 1),
      y: answer,
    }));
  }
  const { inputs, outputs } = goldens['affine']![1]!;
  const [x, y] = [valuesOf(inputs['x']!) as number[], valuesOf(outputs['y']!) as number[]];
  return Array.from({ length: 5 }, (_, row) => ({
    x: x.slice(4 * row, 4 * row + 4),
    y: y.slice(3 * row, 3 * row + 3),
  }));
}

test(`load, seed ${SEED} @full`, async ({ open, backend, page }) => {
  test.skip(backend !== 'wasm' && !process.env['LOAD_REQUESTS'], 'npm run load has this one');
  test.setTimeout(Math.max(120_000, REQUESTS * 60));
  const { model } = SETUPS[backend];
  // At three times the capacity a third of the requests finds no place in time: these few fill the queue.
  const jobQueueSize = Math.min(SETUPS[backend].jobQueueSize, Math.floor(REQUESTS / 8));
  await open();
  const heaps = await watchHeaps(page);
  const load = await page.evaluateHandle(
    async ({ backend, model, cases, seed, batchSize, jobQueueSize }) => {
      const client = await window.tabserve.load(model, {
        handler: 'base_handler',
        backends: [`onnx/${backend}`],
        batchSize,
        jobQueueSize,
        config: { engine: { threads: 1 } },
      });
      const inputs = cases.map(({ x }) => ({ data: Float32Array.from(x), dims: [x.length] }));
      const ask = (index: number, options = {}) => client.predict(inputs[index % inputs.length]!, options);
      const fits = (index: number, data: ArrayLike<number>): boolean =>
        cases[index % cases.length]!.y.every((value, at) => Math.abs(value - data[at]!) <= 1e-3);

      const random = window.random(seed);

      return {
        /**
         * Requests a second when there is always a next one: as many callers as fill every batch, each of which asks
         * again when it is answered.
         */
        async capacity(requests: number): Promise<number> {
          let next = 0;
          const caller = async (): Promise<void> => {
            while (next < requests) await ask(next++);
          };
          const started = performance.now();
          await Promise.all(Array.from({ length: 3 * batchSize }, caller));
          return (1000 * requests) / (performance.now() - started);
        },

        /** Sends requests in a Poisson process of `rate` a second; a timer that is late sends all that are due. */
        async arrive(requests: number, rate: number, timeout: number): Promise<Phase> {
          const outcomes: Record<string, number> = {};
          const wrong: string[] = [];
          const times: number[] = [];
          let [slowRefusals, refusal, tick] = [0, '', 0];
          const send = async (index: number): Promise<void> => {
            const [called, calledIn] = [performance.now(), tick];
            let outcome = 'answer';
            try {
              const { y } = await ask(index, { timeout });
              times.push(performance.now() - called);
              if (!fits(index, y!.data as Float32Array)) wrong.push(`${index}: ${(y!.data as Float32Array).join()}`);
            } catch (error) {
              const { code, message } = error as { code?: string; message: string };
              outcome = code ?? message;
              if (outcome === 'queue-full' && tick !== calledIn) slowRefusals += 1;
              if (outcome === 'queue-full') refusal = message;
            }
            outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
          };
          const sent: Promise<void>[] = [];
          await new Promise<void>((resolve) => {
            let due = performance.now();
            const onTime = (): void => {
              tick += 1;
              for (
                const now = performance.now();
                due <= now && sent.length < requests;
                due += (-1000 * Math.log(1 - random())) / rate
              )
                sent.push(send(sent.length));
              if (sent.length < requests) setTimeout(onTime, due - performance.now());
              else resolve();
            };
            onTime();
          });
          await Promise.all(sent);
          times.sort((a, b) => a - b);
          const quantile = (part: number): number => times[Math.floor(part * (times.length - 1))]!;
          return {
            offered: rate,
            outcomes,
            requests,
            wrong,
            slowRefusals,
            refusal,
            p50: quantile(0.5),
            p99: quantile(0.99),
            longest: quantile(1),
          };
        },

        metrics: () => client.metrics.snapshot(),
        dispose: () => client.dispose(),
      };
    },
    { backend, model, cases: casesOf(backend), seed: SEED, batchSize: BATCH_SIZE, jobQueueSize },
  );

  // The first requests compile kernels and scripts: measured with them, three times the capacity was no overload on
  // WebGPU.
  const measured = Math.max(200, Math.floor(REQUESTS / 5));
  const warmUp = 2 * measured;
  await load.evaluate((load, requests) => load.capacity(requests), measured);
  const capacity = await load.evaluate((load, requests) => load.capacity(requests), measured);
  const memory = async () => ({
    ...(await heaps()),
    wasm: await load.evaluate((load) => load.metrics().gauges['MemoryUsed']![0]!.value),
  });
  const before = await memory();
  // An accepted request waits for a full queue, for two batches that the worker may have, and for its own.
  const deadline = (TIMEOUT_FACTOR * 1000 * (jobQueueSize + 3 * BATCH_SIZE)) / capacity;
  const phases: (Phase & { readonly times: number })[] = [];
  for (const { times, share } of PHASES) {
    const phase = await load.evaluate((load, [count, rate, timeout]) => load.arrive(count, rate, timeout), [
      Math.round(REQUESTS * share),
      times * capacity,
      deadline,
    ] as const);
    phases.push({ times, ...phase });
  }
  const after = await memory();
  const { counters, histograms } = await load.evaluate((load) => load.metrics());
  await load.evaluate((load) => load.dispose());

  const lines = phases.map(({ times, ...phase }) => `  ${times}×: ${JSON.stringify(phase)}`);
  const [batches] = histograms['BatchSize']!;
  console.log(
    [
      `load on ${backend}: ${capacity.toFixed(0)} requests a second, deadline ${deadline.toFixed(0)} ms, ${(batches!.sum / batches!.count).toFixed(1)} requests a batch`,
      ...lines,
      `  memory before: ${JSON.stringify(before)}`,
      `  memory after:  ${JSON.stringify(after)}`,
    ].join('\n'),
  );
  for (const { times, wrong, outcomes, slowRefusals, longest } of phases) {
    const phase = `at ${times}×`;
    expect(wrong, phase).toEqual([]);
    // Nothing that was accepted is late, and whatever is refused is refused at once.
    expect(
      Object.keys(outcomes).filter((outcome) => outcome !== 'answer' && outcome !== 'queue-full'),
      phase,
    ).toEqual([]);
    expect(slowRefusals, phase).toBe(0);
    expect(longest, phase).toBeLessThanOrEqual(deadline);
  }
  expect(phases[0]!.outcomes['queue-full']).toBeUndefined();
  expect(phases[2]!.outcomes['queue-full']).toBeGreaterThan(0);
  expect(phases[2]!.refusal).toContain(`${jobQueueSize} requests wait`);
  // The client has counted every request once, with the outcome that its caller saw.
  const total = (outcome: string): number => phases.reduce((sum, { outcomes }) => sum + (outcomes[outcome] ?? 0), 0);
  const counted = counters['ts_inference_requests_total']!.map(({ labels, value }) => [labels['outcome'], value]);
  expect(Object.fromEntries(counted)).toEqual({ ok: warmUp + total('answer'), 'queue-full': total('queue-full') });
  expect(after.page - before.page).toBeLessThan(MAX_GROWTH);
  expect(after.workers - before.workers).toBeLessThan(MAX_GROWTH);
  // It never shrinks; what a run has needed once, the next one uses again.
  expect(after.wasm).toBe(before.wasm);
});
