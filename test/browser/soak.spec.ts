import type { Browser, Page } from '@playwright/test';
import { DEVTOOLS_ONLY, expect, test } from './fixtures.ts';
import { processMemory } from './process-memory.ts';

// What is left is counted in a process of its own.
test.use({ reuseTab: false });

test.skip(({ browserName }) => browserName !== 'chromium', DEVTOOLS_ONLY);

/**
 * What is done thousands of times leaves nothing: `npm run soak` loads, predicts and disposes, and then sends frames,
 * for as long as it is told to. `leaks.spec.ts` shows the same for a few lives, by the objects that are reachable.
 */
const CYCLES = Number(process.env['SOAK_CYCLES'] ?? 0);
const FRAMES = Number(process.env['SOAK_FRAMES'] ?? 0);
const SKIPPED = 'takes minutes: npm run soak has this one';

/** Samples are taken this many times; the first of them is taken after as much of the work, which fills the caches. */
const SAMPLES = 10;

/**
 * Bytes by which the page's heap may grow between the first and the last sample: compiled code, the metrics' series.
 */
const MAX_HEAP_GROWTH = 1_000_000;
/**
 * Bytes by which the processes of the browser may grow. Allocators return memory late, some samples have 400 MB more
 * than those before and after them, so the least of each half is compared. A worker that stays has at least 30 MB.
 */
const MAX_PROCESS_GROWTH = 100_000_000;

interface Sample {
  readonly done: number;
  /** Bytes of JavaScript in use on the page after a garbage collection. */
  readonly heap: number;
  readonly listeners: number;
  readonly nodes: number;
  readonly workers: number;
  /** Bytes of all processes of the browser. */
  readonly processes: number;
}

/** Does a work in parts, and takes a sample after each. */
async function soak(
  page: Page,
  browser: Browser,
  total: number,
  work: (count: number) => Promise<void>,
): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable');
  const sample = async (done: number): Promise<Sample> => {
    // What a finalizer releases is collected by the next round.
    for (let round = 0; round < 3; round++) await devtools.send('HeapProfiler.collectGarbage');
    const { metrics } = await devtools.send('Performance.getMetrics');
    const metric = (name: string): number => metrics.find((metric) => metric.name === name)!.value;
    return {
      done,
      heap: metric('JSHeapUsedSize'),
      listeners: metric('JSEventListeners'),
      nodes: metric('Nodes'),
      workers: page.workers().length,
      processes: await processMemory(browser, 'now'),
    };
  };
  const part = Math.ceil(total / SAMPLES);
  const samples: Sample[] = [];
  for (let done = part; done <= part * SAMPLES; done += part) {
    await work(part);
    samples.push(await sample(done));
    console.log(JSON.stringify(samples.at(-1)));
  }
  const [first, last] = [samples[0]!, samples.at(-1)!];
  expect({ listeners: last.listeners, nodes: last.nodes, workers: last.workers }).toEqual({
    listeners: first.listeners,
    nodes: first.nodes,
    workers: first.workers,
  });
  expect(last.heap - first.heap).toBeLessThan(MAX_HEAP_GROWTH);
  const least = (some: readonly Sample[]): number => Math.min(...some.map(({ processes }) => processes));
  const half = samples.length / 2;
  expect(least(samples.slice(half)) - least(samples.slice(0, half))).toBeLessThan(MAX_PROCESS_GROWTH);
}

test(`soak: ${CYCLES} cycles of load, predict and dispose`, async ({ open, backend, browser }) => {
  test.skip(CYCLES === 0, SKIPPED);
  test.setTimeout(60_000 + CYCLES * 10_000);
  const page = await open();
  await soak(page, browser, CYCLES, async (count) => {
    await page.evaluate(
      async ({ backend, count }) => {
        for (let cycle = 0; cycle < count; cycle++) {
          const client = await window.tabserve.load('/test/models/affine_fixed.onnx', {
            handler: 'base_handler',
            backends: [backend],
          });
          await client.predict({ data: new Float32Array([1, 2, 3, 4]), dims: [4] });
          await client.dispose();
        }
      },
      { backend, count },
    );
    await expect.poll(() => page.workers().length).toBe(0);
  });
});

test(`soak: ${FRAMES} frames`, async ({ open, backend, browser }) => {
  test.skip(FRAMES === 0, SKIPPED);
  test.setTimeout(60_000 + FRAMES * 1000);
  const page = await open();
  const client = await page.evaluateHandle(
    async (backend) =>
      await window.tabserve.load('/models/digits/', { handler: 'image_classifier', backends: [backend] }),
    backend,
  );
  await soak(page, browser, FRAMES, async (count) => {
    await client.evaluate(async (client, count) => {
      const canvas = new OffscreenCanvas(640, 360);
      const context = canvas.getContext('2d')!;
      for (let index = 0; index < count; index++) {
        context.fillStyle = `hsl(${index} 80% 50%)`;
        context.fillRect(0, 0, 640, 360);
        // As a copy that stays the page's, and as one that moves to the worker.
        if (index % 2) {
          await client.predict(await createImageBitmap(canvas), { transfer: true });
          continue;
        }
        const frame = new VideoFrame(canvas, { timestamp: index });
        await client.predict(frame);
        frame.close();
      }
    }, count);
  });
  await client.evaluate((client) => client.dispose());
});
