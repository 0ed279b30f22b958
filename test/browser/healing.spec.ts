import { expect, test } from './fixtures.ts';
import type { Fault } from './workers/faulty.worker.ts';

/** A worker or a GPU is lost: the request in it is run again in another worker, and the app sees a pause. */
const MODEL = '/test/models/affine_fixed.onnx';
const STAGES = ['preprocess', 'inference', 'postprocess'] as const;

/**
 * Each way to lose a worker, and the code of the `recover` event's cause. Where the backend makes no difference, one
 * runs it. Firefox runs in `npm test` the one that it notices by itself.
 */
const FAULTS: Readonly<Record<Exclude<Fault['kind'], 'throw'>, { readonly code: string; readonly tags: string }>> = {
  close: { code: 'worker-lost', tags: ' @once' },
  crash: { code: 'worker-lost', tags: ' @once @full' },
  block: { code: 'worker-lost', tags: ' @once' },
  stall: { code: 'worker-lost', tags: ' @once @full' },
  lose: { code: 'device-lost', tags: '' },
  memory: { code: 'out-of-memory', tags: ' @once @full' },
};

for (const [kind, { code, tags }] of Object.entries(FAULTS) as [keyof typeof FAULTS, (typeof FAULTS)['close']][]) {
  test(`a loss (${kind}) in any stage is healed without a download${tags}`, async ({ open, backend, page, full }) => {
    test.skip(kind === 'lose' && backend === 'wasm', 'WASM has no GPU to lose');
    await open();
    const downloads: string[] = [];
    page.on('request', (request) => /\.(?:onnx|wasm)$/.test(request.url()) && downloads.push(request.url()));
    // Only time tells a worker that hangs from one on a busy machine: where nothing hangs, the timeout is long.
    const hangs = kind === 'block' || kind === 'stall';
    const responseTimeout = hangs ? 6 : 60;
    // What is lost after the run is seen at the next one. A worker that hangs is silent in each stage alike:
    // `npm run test:full` waits for it in all.
    const stages = kind === 'lose' ? STAGES.slice(0, 2) : hangs && !full ? STAGES.slice(1, 2) : STAGES;
    const answer = await page.evaluate(
      async ({ model, backend, kind, stages, hangs, responseTimeout }) => {
        // Without a cache, whatever is loaded again is requested again.
        const options = { model, backends: [backend], responseTimeout, cache: 'none' } as const;
        const client = window.tabserve.connect(window.workers.faulty, options);
        const events: { name: string; code: string }[] = [];
        client.on('recover', ({ backend: { name }, cause }) => events.push({ name, code: cause.code }));
        await client.initialize();
        const data = new Float32Array(4);
        const input = () => ({ data, dims: [4] }) as never;
        const fill = () => data.set([1, 2, 3, 4]);
        fill();
        const before = JSON.stringify(await client.predict(input()));
        const same: boolean[] = [];
        for (const stage of stages) {
          fill();
          const calls = [
            client.predict(input(), window.fault(kind, stage, 1)),
            client.predict(input()),
            client.predict(input()),
          ];
          data.fill(9);
          // A request that was alone in a worker that hung is not replayed.
          if (hangs) same.push((await window.failure(calls.shift()!)).code === 'worker-lost');
          const answers = await Promise.all(calls).catch((error: Error) => {
            throw new Error(`${stage}: ${error.message}\n${client.diagnose()}`, { cause: error });
          });
          same.push(...answers.map((one) => JSON.stringify(one) === before));
          // The others may have been answered before the worker was lost.
          if (hangs) await client.predict(input());
        }
        await client.dispose();
        return { same, events };
      },
      { model: MODEL, backend, kind, stages, hangs, responseTimeout },
    );
    expect(answer.same).toEqual(stages.flatMap(() => [true, true, true]));
    // Every fault ended one worker, and what was in that worker ran again.
    expect(answer.events).toEqual(stages.map(() => ({ name: backend, code })));
    expect(downloads.filter((url) => url.endsWith('.onnx'))).toHaveLength(1);
    // The engine is compiled once; by an earlier test, if the page is the same.
    expect(downloads.filter((url) => url.endsWith('.wasm')).length).toBeLessThanOrEqual(1);
  });
}

test('a transferred input is not run again @once', async ({ open, backend }) => {
  const page = await open();
  const answer = await page.evaluate(
    async ({ model, backend }) => {
      const client = window.tabserve.connect(window.workers.faulty, { model, backends: [backend] });
      await client.initialize();
      const input = () => ({ data: new Float32Array(4), dims: [4] }) as never;
      const retriable = await client
        .predict(input(), { ...window.fault('close', 'inference', 1), transfer: true })
        .catch((error) => ({ code: error.code, retriable: error.retriable }));
      const after = await client.predict(input(), { transfer: true }).then(() => 'answer');
      await client.dispose();
      return { retriable, after };
    },
    { model: MODEL, backend },
  );
  expect(answer).toEqual({ retriable: { code: 'worker-lost', retriable: true }, after: 'answer' });
});

test('every kind of picture is answered though its worker is lost, whatever becomes of it on the page @once @full', async ({
  open,
}) => {
  const page = await open();
  const answers = await page.evaluate(async (model) => {
    const client = window.tabserve.connect(window.workers.faulty, { model, backends: ['wasm'] });
    await client.initialize();
    const canvas = Object.assign(document.createElement('canvas'), { width: 24, height: 16 });
    const context = canvas.getContext('2d')!;
    const paint = (color: string): void => {
      context.fillStyle = color;
      context.fillRect(0, 0, 24, 16);
    };
    paint('rgb(10, 200, 30)');
    const offscreen = new OffscreenCanvas(24, 16);
    offscreen.getContext('2d')!.drawImage(canvas, 0, 0);
    const url = canvas.toDataURL();
    const img = Object.assign(new Image(), { src: url });
    await img.decode();
    const video = Object.assign(document.createElement('video'), { muted: true });
    const stream = canvas.captureStream(30);
    video.srcObject = stream;
    const timer = setInterval(paint, 20, 'rgb(10, 200, 30)');
    await video.play();
    clearInterval(timer);
    const bitmap = () => createImageBitmap(offscreen);
    const frame = () => new VideoFrame(offscreen, { timestamp: 0 });
    const kinds: Record<string, readonly [() => unknown, ((input: never) => void)?]> = {
      img: [() => img, (image: HTMLImageElement) => void image.removeAttribute('src')],
      canvas: [() => canvas, () => paint('rgb(0, 0, 0)')],
      offscreen: [() => offscreen, () => offscreen.getContext('2d')!.clearRect(0, 0, 24, 16)],
      video: [() => video, () => video.pause()],
      bitmap: [bitmap, (image: ImageBitmap) => image.close()],
      frame: [frame, (image: VideoFrame) => image.close()],
      'frame in a row': [() => ({ data: frame() }), ({ data }: { data: VideoFrame }) => data.close()],
      url: [() => new URL(url)],
      blob: [async () => await (await fetch(url)).blob()],
    };
    const out: Record<string, unknown> = {};
    // In the order of what each one spoils: the offscreen canvas is the source of bitmaps and frames.
    for (const name of ['url', 'blob', 'video', 'bitmap', 'frame', 'frame in a row', 'offscreen', 'canvas', 'img']) {
      const [make, spoil] = kinds[name]!;
      const ask = async (options = {}): Promise<string> => {
        const input = (await make()) as never;
        const answer = client.predict(input, options);
        if ('params' in options && name !== 'img') spoil?.(input);
        return JSON.stringify(await answer);
      };
      const before = await ask();
      const healed = await ask(window.fault('close', 'preprocess', 1)).catch(
        (error) => `${error.code}: ${error.message}`,
      );
      out[name] = healed === before ? 'same' : `${before} became ${healed}`;
    }
    const given = async (input: unknown) =>
      (
        await window.failure(
          client.predict(input as never, { ...window.fault('close', 'preprocess', 1), transfer: true }),
        )
      ).code;
    paint('rgb(10, 200, 30)');
    const gone = [await given(canvas), await given(await bitmap()), await given(frame())];
    const still = await client
      .predict((await (await fetch(url)).blob()) as never, {
        ...window.fault('close', 'preprocess', 1),
        transfer: true,
      })
      .then(() => 'answer');
    await client.dispose();
    return { out, gone, still };
  }, MODEL);
  for (const [name, outcome] of Object.entries(answers.out)) expect.soft(outcome, name).toBe('same');
  expect(answers).toMatchObject({ gone: ['worker-lost', 'worker-lost', 'worker-lost'], still: 'answer' });
});

test('a worker is lost while it runs a batch that was split @once', async ({ open, backend }) => {
  const page = await open();
  const outcomes = await page.evaluate(
    async ({ model, backend }) => {
      const client = window.tabserve.connect(window.workers.faulty, { model, backends: [backend], batchSize: 3 });
      await client.initialize();
      const ask = (options = {}) =>
        client.predict({ data: new Float32Array([1, 2, 3, 4]), dims: [4] } as never, options).then(
          () => 'answer',
          ({ code }: { code: string }) => code,
        );
      // Behind as many as may be in the worker at once, they gather.
      const ahead = Array.from({ length: backend === 'wasm' ? 1 : 2 }, () => ask());
      const batch = [ask({ params: { unsent: () => {} } }), ask(window.fault('close', 'preprocess', 1)), ask()];
      const settled = await Promise.all([...ahead, ...batch]);
      await client.dispose();
      return settled.slice(-3);
    },
    { model: MODEL, backend },
  );
  expect(outcomes).toEqual(['not-cloneable', 'answer', 'answer']);
});

test('when no worker can be opened any more, every request fails with the reason, and initialize starts again @once', async ({
  open,
}) => {
  const page = await open();
  const answer = await page.evaluate(async (model) => {
    let broken = false;
    const factory = () => (broken ? window.workers.throwing() : window.workers.faulty());
    const client = window.tabserve.connect(factory, { model, backends: ['wasm'], maxRetryTimeoutInSec: 2 });
    const failed = new Promise<string>((resolve) => client.on('fail', ({ code }) => resolve(code)));
    // An initialize that is called at once fails too.
    const begun = new Promise<string>((resolve) =>
      client.on('fail', () =>
        client.initialize().then(
          () => resolve('initialized'),
          (error) => resolve(error.code),
        ),
      ),
    );
    await client.initialize();
    broken = true;
    const input = () => ({ data: new Float32Array(4), dims: [4] }) as never;
    const pending = await Promise.all(
      ['preprocess', 'inference'].map((stage) =>
        window.failure(client.predict(input(), window.fault('crash', stage as 'inference', 1))),
      ),
    );
    const later = await window.failure(client.predict(input()));
    const event = await failed;
    const atOnce = await begun;
    broken = false;
    await client.initialize();
    const after = await client.predict(input()).then(() => 'answer');
    await client.dispose();
    return {
      codes: pending.map(({ code }) => code),
      later: later.code,
      message: later.message,
      event,
      atOnce,
      after,
    };
  }, MODEL);
  expect(answer).toMatchObject({
    codes: ['no-backend', 'no-backend'],
    later: 'no-backend',
    event: 'no-backend',
    atOnce: 'worker-failed',
    after: 'answer',
  });
  expect(answer.message).toContain('the module is broken');
});

test("a request's own timeout, while it runs and while it waits @once", async ({ open, backend }) => {
  const page = await open();
  const answer = await page.evaluate(
    async ({ model, backend }) => {
      const client = window.tabserve.connect(window.workers.faulty, { model, backends: [backend], responseTimeout: 5 });
      await client.initialize();
      const input = () => ({ data: new Float32Array(4), dims: [4] }) as never;
      const running = await window.failure(
        client.predict(input(), { ...window.fault('stall', 'inference', 1), timeout: 50 }),
      );
      const wrong = await window.failure(client.predict(input(), { timeout: 0 }));
      const after = await client.predict(input()).then(() => 'answer');
      await client.dispose();
      return { running: running.code, wrong: wrong.code, after };
    },
    { model: MODEL, backend },
  );
  expect(answer).toEqual({ running: 'timeout', wrong: 'invalid-input', after: 'answer' });
});

test('a worker whose memory grows beyond maxMemory is replaced; one that needed that much from the start is not @once', async ({
  open,
}) => {
  const page = await open();
  const made = await page.evaluate(async () => {
    const count = async (maxMemory: number, sizes: readonly number[]): Promise<number> => {
      let workers = 0;
      const factory = () => {
        workers += 1;
        return window.workers.faulty();
      };
      const client = window.tabserve.connect(factory, {
        model: '/test/models/dynamic_image.onnx',
        backends: ['wasm'],
        maxMemory,
      });
      await client.initialize();
      const replaced = new Promise<void>((resolve) => {
        const started = setInterval(() => workers > 1 && (clearInterval(started), resolve()), 20);
      });
      for (const side of sizes)
        await client.predict({ data: new Float32Array(3 * side * side), dims: [1, 3, side, side] } as never);
      if (sizes.length > 1) await replaced;
      await client.dispose();
      return workers;
    };
    return { grown: await count(64 * 2 ** 20, [8, 3000]), needed: await count(1, [8]) };
  });
  expect(made).toEqual({ grown: 2, needed: 1 });
});

test('a worker is replaced after maxRuns, and every request is answered the same @once', async ({
  open,
  backend,
  page,
}) => {
  await open();
  const answer = await page.evaluate(
    async ({ model, backend }) => {
      const workers: Worker[] = [];
      const client = window.tabserve.connect(
        () => {
          const worker = window.workers.faulty();
          workers.push(worker);
          return worker;
        },
        { model, backends: [backend], maxRuns: 5 },
      );
      await client.initialize();
      const input = () => ({ data: new Float32Array([1, 2, 3, 4]), dims: [4] }) as never;
      const before = JSON.stringify(await client.predict(input()));
      let same = 0;
      // As many as it takes: the replacement comes when it is ready.
      for (let run = 0; workers.length < 3 || run < 20; run++)
        same += JSON.stringify(await client.predict(input())) === before ? 0 : 1;
      await client.dispose();
      return { different: same };
    },
    { model: MODEL, backend },
  );
  expect(answer).toEqual({ different: 0 });
  await expect.poll(() => page.workers().length).toBe(0);
});

test('600 requests at once: whatever ends the worker, each is answered right, once @once', async ({
  open,
  backend,
}) => {
  test.skip(backend !== 'wasm', 'the rule is the same for each backend');
  const page = await open();
  const seen = await page.evaluate(async () => {
    const made: Worker[] = [];
    const factory = (): Worker => {
      made.push(window.workers.faulty());
      return made.at(-1)!;
    };
    const model = '/test/models/affine_fixed.onnx';
    const client = window.tabserve.connect(factory, { model, backends: ['onnx/wasm'], jobQueueSize: 1000 });
    let recoveries = 0;
    client.on('recover', () => (recoveries += 1));
    await client.initialize();
    const ask = async (value: number, options = {}): Promise<string> => {
      const { y } = (await client.predict({ data: Float32Array.of(value, 0, 0, 0), dims: [4] } as never, options)) as {
        y: { data: Float32Array };
      };
      return [...y.data].join();
    };
    const right: string[] = [];
    for (let value = 0; value < 7; value++) right.push(await ask(value));
    const outcomes: string[] = [];
    const wrong: string[] = [];
    const abort = new AbortController();
    const asked = Array.from({ length: 600 }, async (_, index) => {
      const options =
        index === 150
          ? window.fault('close', 'inference', 1)
          : index === 300
            ? window.fault('throw', 'preprocess', 1)
            : index % 50 === 49
              ? { signal: abort.signal }
              : {};
      try {
        const answer = await ask(index % 7, options);
        outcomes[index] = 'answer';
        if (answer !== right[index % 7]) wrong.push(`${index}: ${answer}`);
        if (index === 80) abort.abort();
        if (index === 400) made.at(-1)!.terminate();
      } catch (error) {
        outcomes[index] = (error as { code: string }).code;
      }
    });
    await Promise.all(asked);
    await client.dispose();
    return { outcomes, wrong, recoveries };
  });
  expect(seen.wrong).toEqual([]);
  for (const [index, outcome] of seen.outcomes.entries()) {
    if (index % 50 === 49) expect(['answer', 'aborted']).toContain(outcome);
    // The handler fails it alone.
    else expect(`${index} ${outcome}`).toBe(`${index} ${index === 300 ? 'handler-failed' : 'answer'}`);
  }
  expect(seen.outcomes[599]).toBe('aborted');
  expect(seen.recoveries).toBe(2);
});

test('a worker that ends while it starts is noticed within seconds, not after startupTimeout @once @firefox', async ({
  open,
}) => {
  const page = await open();
  for (const when of ['at once', '5', 'initialize']) {
    const { code, message, seconds } = await page.evaluate(
      async ([when, model]) => {
        const factory = (): Worker =>
          new Worker(`/test/browser/workers/dying.worker.ts?when=${when}`, { type: 'module' });
        const client = window.tabserve.connect(factory, { model, backends: ['wasm'], startupTimeout: 300 } as never);
        const since = performance.now();
        const failure = await window.failure(client.initialize());
        await client.dispose();
        return { ...failure, seconds: (performance.now() - since) / 1000 };
      },
      [when, MODEL] as const,
    );
    expect(['worker-lost', 'no-backend'], when).toContain(code);
    expect(message, when).toContain('The worker ended: ');
    expect(seconds, when).toBeLessThan(30);
  }
});

test.describe('the site’s data are cleared, as at a logout', () => {
  // A tab keeps the locks that it had before apart from those of workers that it opens later.
  test.use({ reuseTab: false });

  test('a worker that is lost is replaced all the same, and another model can be opened @once @firefox', async ({
    open,
  }) => {
    const page = await open();
    const answer = await page.evaluate(async (model) => {
      const client = window.tabserve.connect(window.workers.faulty, { model, backends: ['wasm'] });
      const causes: string[] = [];
      client.on('recover', ({ cause }) => causes.push(cause.code));
      await client.initialize();
      await fetch('/test/server.mjs?clear=storage');
      const input = { data: new Float32Array([1, 2, 3, 4]), dims: [4] } as never;
      const healed = await client.predict(input, window.fault('close', 'inference', 1));
      const digits = await window.tabserve.load('/models/digits/', { backends: ['wasm'] });
      const classes = await digits.predict(new ImageData(28, 28));
      return { causes, healed: Object.keys(healed as object), classes: (classes as unknown[]).length };
    }, MODEL);
    expect(answer).toEqual({ causes: ['worker-lost'], healed: ['y'], classes: 5 });
  });

  // In a context of Playwright's own, as in a private window, Chromium keeps cached files in memory.
  test('a model that was read from the cache is downloaded again @once', async ({
    playwright,
    launchOptions,
    baseURL,
    browserName,
  }, info) => {
    test.skip(browserName !== 'chromium', 'The test opens a profile of Chromium');
    const profile = info.outputPath('profile');
    const context = await playwright.chromium.launchPersistentContext(profile, {
      ...launchOptions,
      baseURL: baseURL!,
    });
    const page = await context.newPage();
    await page.goto('/test/browser/pages/tabserve.html');
    await page.waitForFunction(() => 'tabserve' in window);
    const answer = await page.evaluate(async () => {
      const connect = async () => {
        const options = { model: '/models/likeness/', backends: ['wasm'] } as const;
        const client = window.tabserve.connect(window.workers.faulty, options);
        await client.initialize();
        return client;
      };
      const first = await connect();
      while (!(await window.tabserve.cache.list()).some(({ url }) => url.endsWith('/likeness/model.onnx')))
        await new Promise((resolve) => setTimeout(resolve, 20));
      await first.dispose();
      const client = await connect();
      await fetch('/test/server.mjs?clear=storage');
      const input = { data: new Float32Array(3 * 224 * 224), dims: [3, 224, 224] } as never;
      const healed = await client.predict(input, window.fault('close', 'inference', 1));
      return { healed: Object.keys(healed as object), log: client.diagnose() };
    });
    await context.close();
    expect(answer.healed).toEqual(['features']);
    // The Blobs were on disk: otherwise this tests nothing.
    expect(answer.log).toContain("The archive's files are gone with the site's data");
  });
});
