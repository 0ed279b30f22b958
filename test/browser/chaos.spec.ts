import { expect, test } from './fixtures.ts';
import type { Fault } from './workers/faulty.worker.ts';

/**
 * Requests while workers are ended, GPUs lost, runs hung and aborts fired, at random moments in every stage.
 * `npm run chaos -- --seed N --requests N` repeats a run of any length on every backend; the suite has a short one.
 */
const REQUESTS = Number(process.env['CHAOS_REQUESTS'] ?? 100);
const SEED = Number(process.env['CHAOS_SEED'] ?? 1);

interface Tally {
  /** How often each request settled. */
  readonly settled: readonly number[];
  readonly wrong: readonly string[];
  /** What each kind of request came to: answers and error codes, counted. */
  readonly outcomes: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly recoveries: number;
  readonly workers: number;
  /** The client's story, should a request never have settled. */
  readonly stalled: string;
}

test(`chaos: ${REQUESTS} requests, seed ${SEED}`, async ({ open, backend, page }) => {
  test.setTimeout(Math.max(180_000, REQUESTS * 1500));
  await open();
  const tally: Tally = await page.evaluate(
    async ({ backend, requests, seed, patienceMs }) => {
      const random = window.random(seed);
      const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;

      const made: Worker[] = [];
      const factory = (): Worker => {
        const worker = window.workers.faulty();
        made.push(worker);
        return worker;
      };
      // In batches, and on WASM in a pool.
      const served = { batchSize: 3, minWorkers: 2, startupTimeout: 15, responseTimeout: 4, maxRuns: 200 };
      const client = window.tabserve.connect(factory, {
        model: '/test/models/affine_fixed.onnx',
        backends: [backend],
        ...served,
      });
      let recoveries = 0;
      client.on('recover', () => (recoveries += 1));
      await client.initialize();

      // The model is y = W x + b: five clean answers tell every other.
      const ask = (x: readonly number[], options = {}) =>
        client.predict({ data: Float32Array.from(x), dims: [4] } as never, options) as Promise<{
          y: { data: Float32Array };
        }>;
      const bias = (await ask([0, 0, 0, 0])).y.data;
      const columns: Float32Array[] = [];
      for (const unit of [0, 1, 2, 3]) columns.push((await ask([0, 1, 2, 3].map((k) => (k === unit ? 1 : 0)))).y.data);
      const right = (x: readonly number[]): number[] =>
        Array.from(bias, (b, row) => x.reduce((sum, value, k) => sum + value * (columns[k]![row]! - b), b));

      const settled = Array.from({ length: requests }, () => 0);
      const wrong: string[] = [];
      const outcomes: Record<string, Record<string, number>> = {};
      const count = (kind: string, outcome: string): void => {
        const counts = (outcomes[kind] ??= {});
        counts[outcome] = (counts[outcome] ?? 0) + 1;
      };
      const KINDS: readonly Fault['kind'][] = [
        'close',
        'close',
        'crash',
        'memory',
        'throw',
        ...(backend === 'wasm' ? [] : (['lose', 'lose', 'lose'] as const)),
      ];

      const request = async (index: number): Promise<void> => {
        const x = [index % 7, index % 11, -(index % 5), index / requests];
        const dice = random();
        const stage = pick(['preprocess', 'inference', 'postprocess'] as const);
        let kind = 'plain';
        let options: Record<string, unknown> = {};
        if (dice < 0.04) {
          const how = pick(KINDS);
          kind = how === 'throw' ? 'throwing' : 'faulty';
          options = window.fault(how, stage, 1);
        } else if (dice < 0.043) {
          kind = 'hung';
          options = window.fault(pick(['block', 'stall'] as const), stage, 1);
        } else if (dice < 0.08) {
          kind = 'aborted';
          const abort = new AbortController();
          setTimeout(() => abort.abort(), random() * 15);
          options = { signal: abort.signal };
        } else if (dice < 0.12) {
          kind = 'given away';
          options = { transfer: true };
        } else if (dice < 0.125) {
          kind = 'terminated';
          // From outside, whatever runs in it.
          setTimeout(() => made.at(-1)!.terminate(), random() * 15);
        } else if (dice < 0.14) {
          kind = 'late';
          options = { timeout: 1 + random() * 10 };
        }
        try {
          const { y } = await ask(x, options);
          settled[index]! += 1;
          const expected = right(x);
          if (!expected.every((value, row) => Math.abs(value - y.data[row]!) <= 1e-3))
            wrong.push(`${index}: ${[...y.data].join()} for ${expected.join()}`);
          count(kind, 'answer');
        } catch (error) {
          settled[index]! += 1;
          count(kind, (error as { code?: string }).code ?? String(error));
        }
      };

      let next = 0;
      const lane = async (): Promise<void> => {
        while (next < requests) await request(next++);
      };
      // Should one never settle, the story says more than a test's timeout.
      const patience = new Promise<string>((resolve) => setTimeout(() => resolve(client.diagnose()), patienceMs));
      const stalled = await Promise.race([Promise.all(Array.from({ length: 6 }, lane)).then(() => ''), patience]);
      await client.dispose();
      return { settled, wrong, outcomes, recoveries, workers: made.length, stalled };
    },
    { backend, requests: REQUESTS, seed: SEED, patienceMs: Math.max(150_000, REQUESTS * 1000) },
  );
  console.log(`chaos on ${backend}, seed ${SEED}: ${JSON.stringify({ ...tally, settled: tally.settled.length })}`);
  expect(tally.stalled).toBe('');
  expect(tally.settled.every((times) => times === 1)).toBe(true);
  expect(tally.wrong).toEqual([]);
  const { outcomes } = tally;
  const total = (kinds: readonly string[], codes?: readonly string[]): number =>
    kinds
      .flatMap((kind) => Object.entries(outcomes[kind] ?? {}))
      .reduce((sum, [code, times]) => sum + (!codes || codes.includes(code) ? times : 0), 0);
  const replayable = ['plain', 'faulty', 'hung', 'terminated'];
  // 99 %, and of few requests one: whose own fault comes only when it is run again, alone.
  expect(total(replayable) - total(replayable, ['answer'])).toBeLessThanOrEqual(Math.ceil(total(replayable) * 0.01));
  // Whoever has no answer was told why, by a code that fits.
  const allowed: Readonly<Record<string, readonly string[]>> = {
    throwing: ['answer', 'handler-failed', 'worker-lost'],
    aborted: ['answer', 'aborted', 'worker-lost'],
    late: ['answer', 'timeout', 'worker-lost'],
    'given away': ['answer', 'worker-lost'],
  };
  for (const kind of Object.keys(outcomes))
    expect(total([kind], allowed[kind] ?? ['answer', 'worker-lost', 'out-of-memory']), kind).toBe(total([kind]));
  expect(tally.recoveries).toBeGreaterThan(0);
  await expect.poll(() => page.workers().length).toBe(0);
});
