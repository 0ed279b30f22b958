import type { FaceLandmarker, HandLandmarker, PoseLandmarker, TextGenerator } from '../../src/index.ts';
import { random } from '../random.ts';
import { expect, test } from './fixtures.ts';

/**
 * Requests while workers end, GPUs are lost, runs hang and callers abort, in every stage and at random moments. Of
 * every kind there is at least one request, whatever the seed. `npm run chaos -- --seed N --requests N` runs any number
 * on every backend; the suite runs a few, and half as many on a GPU that is computed in software.
 */
const REQUESTS = process.env['CHAOS_REQUESTS'];
const SEED = Number(process.env['CHAOS_SEED'] ?? 1);

/**
 * The kinds of requests, and of how many requests each is one; all others are plain. `close` to `stall` are faults in
 * the worker.
 */
const KINDS = {
  close: 60,
  crash: 120,
  memory: 120,
  lose: 60,
  block: 1000,
  stall: 1000,
  throw: 120,
  aborted: 30,
  transferred: 25,
  terminated: 200,
  late: 70,
} as const;
type Kind = keyof typeof KINDS | 'plain';

/**
 * How a request is made, and of how many requests each is one; all others are made by `predict`. The page has a
 * function for each.
 */
const WAYS = { stream: 5, sequence: 5, node: 5 } as const;
type Way = keyof typeof WAYS | 'predict';

/** A stream whose worker is lost in the middle is not started again, whatever the request itself is. */
const LOST: readonly string[] = ['worker-lost', 'device-lost', 'out-of-memory'];

/** Those that `workers.faulty` does. */
const FAULTS: ReadonlySet<Kind> = new Set(['close', 'crash', 'memory', 'lose', 'block', 'stall', 'throw']);

/** The outcomes that a request of each kind may have. Every replayable one is answered, but for those below. */
const ALLOWED: Readonly<Record<Kind, readonly string[]>> = {
  plain: ['answer'],
  close: ['answer'],
  crash: ['answer'],
  memory: ['answer'],
  lose: ['answer'],
  // Alone in its worker, it is not replayed.
  block: ['answer', 'worker-lost'],
  stall: ['answer', 'worker-lost'],
  terminated: ['answer'],
  throw: ['answer', 'handler-failed'],
  aborted: ['answer', 'aborted'],
  late: ['answer', 'timeout'],
  transferred: ['answer', ...LOST],
};

interface Tally {
  /** The outcome of each request: `answer`, an error's code, or `pending`. */
  readonly outcomes: readonly string[];
  readonly wrong: readonly string[];
  /** The client's own counts of the same requests. */
  readonly counted: Readonly<Record<string, number>>;
  /** `response` events: one for each answer. */
  readonly responses: number;
  readonly recoveries: number;
  /** What a camera beside the requests has seen: answers to its frames, and what ended its streams. */
  readonly camera: { readonly answers: number; readonly ends: Readonly<Record<string, number>> };
  /** The same of a writer beside them that writes text. Its ends are counted by the kind of request. */
  readonly writer: { readonly answers: number; readonly ends: Readonly<Record<string, number>> };
  /** The same of one who follows faces, on WASM also hands and a body. Its ends are counted by the kind of request. */
  readonly follower: { readonly answers: number; readonly ends: Readonly<Record<string, number>> };
  /** The kinds of the faults of `predict` that happened, by the workers' own count. */
  readonly happened: readonly string[];
  readonly workers: number;
  /** The client's log, if a request never settled. */
  readonly log: string;
}

/** A kind for each request, in an order that the seed gives: at least one of each kind that the backend can have. */
function deal(backend: string, requests: number, random: () => number): Kind[] {
  const kinds = (Object.keys(KINDS) as (keyof typeof KINDS)[]).filter((kind) => kind !== 'lose' || backend !== 'wasm');
  const special = kinds.flatMap((kind) =>
    Array.from({ length: Math.max(1, Math.round(requests / KINDS[kind])) }, () => kind),
  );
  const dealt: Kind[] = [...special, ...Array.from({ length: requests - special.length }, () => 'plain' as const)];
  for (let last = dealt.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [dealt[last], dealt[other]] = [dealt[other]!, dealt[last]!];
  }
  return dealt;
}

test(`chaos, seed ${SEED} @full`, async ({ open, backend, page }) => {
  const requests = Number(REQUESTS ?? (backend === 'wasm' ? 80 : 40));
  test.setTimeout(Math.max(180_000, requests * 1500));
  await open();
  const next = random(SEED);
  const kinds = deal(backend, requests, next);
  const ways = kinds.map((): Way => {
    const names = Object.keys(WAYS) as (keyof typeof WAYS)[];
    return names.find((way) => next() < 1 / WAYS[way]) ?? 'predict';
  });
  const tally: Tally = await page.evaluate(
    async ({ backend, kinds, ways, seed, timeoutMs }) => {
      const random = window.random(seed);
      const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;

      const made: Worker[] = [];
      const factory = (): Worker => {
        const worker = window.workers.faulty();
        made.push(worker);
        return worker;
      };
      // In batches, and on WASM in a pool.
      const settings = { batchSize: 3, minWorkers: 2, startupTimeout: 15, responseTimeout: 4, maxRuns: 200 };
      const client = window.tabserve.connect(factory, {
        model: '/test/models/affine_fixed.onnx',
        config: { nodes: { twin: '/test/models/affine_fixed.onnx?twin' } },
        backends: [backend],
        ...settings,
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

      const outcomes = kinds.map(() => 'pending');
      const wrong: string[] = [];
      let responses = 0;
      client.on('response', () => (responses += 1));
      const counts = (): Record<string, number> =>
        Object.fromEntries(
          client.metrics
            .snapshot()
            .counters['ts_inference_requests_total']!.map(({ labels, value }) => [labels['outcome']!, value]),
        );
      const before = counts();

      const faults = new Map<string, string>();
      const optionsOf = (
        kind: (typeof kinds)[number],
        way: (typeof ways)[number] | 'frames',
        workers = made,
      ): Record<string, unknown> => {
        switch (kind) {
          case 'plain':
            return {};
          case 'aborted': {
            const abort = new AbortController();
            setTimeout(() => abort.abort(), random() * 15);
            return { signal: abort.signal };
          }
          case 'transferred':
            return { transfer: true };
          case 'terminated':
            // From outside, whatever runs in it.
            setTimeout(() => workers.at(-1)!.terminate(), random() * 15);
            return {};
          case 'late':
            return { timeout: 1 + random() * 10 };
          default: {
            // A GPU that is lost after the run is noticed at the next one.
            const stages = ['preprocess', 'inference', 'postprocess'] as const;
            const options = window.fault(kind, pick(kind === 'lose' ? stages.slice(0, 2) : stages), 1);
            if (way === 'predict') faults.set(options.params.fault.id, kind);
            return options;
          }
        }
      };

      type Outputs = Awaited<ReturnType<typeof ask>>;
      /** Sequences that have no request under way, with the number of their answers so far. */
      const sequences: { readonly sequence: ReturnType<typeof client.openSequence>; answers: number }[] = [];
      /** Each way to make a request: returns the result, or throws. */
      const make: Readonly<
        Record<(typeof ways)[number], (x: readonly number[], options: Record<string, unknown>) => Promise<Outputs>>
      > = {
        predict: ask,
        async stream(x, options) {
          const params = { ...(options['params'] as object | undefined), parts: 3 };
          const items: unknown[] = [];
          const input = { data: Float32Array.from(x), dims: [4] };
          for await (const item of client.stream(input as never, { ...options, params })) items.push(item);
          if (items.slice(0, -1).join() !== '1,2,3') wrong.push(`parts ${JSON.stringify(items)}`);
          return items.at(-1) as Outputs;
        },
        async sequence(x, options) {
          const one = sequences.shift() ?? { sequence: client.openSequence(), answers: 0 };
          try {
            const input = { data: Float32Array.from(x), dims: [4] };
            const answer = (await one.sequence.predict(input as never, options)) as Outputs & { place: Outputs['y'] };
            one.answers += 1;
            if (answer.place.data[0] !== one.answers)
              wrong.push(`answer ${one.answers} of a sequence: place ${answer.place.data[0]}`);
            return answer;
          } finally {
            sequences.push(one);
          }
        },
        async node(x, options) {
          const { y } = await ask(x, {
            ...options,
            params: { ...(options['params'] as object | undefined), double: true },
          });
          return { y: { data: y.data.map((value) => value / 2) } };
        },
      };

      // A camera beside the requests, with a model of its own: its streams of frames outlive their workers.
      const watcher = window.tabserve.connect(factory, {
        model: '/test/models/affine_fixed.onnx',
        backends: [backend],
        ...settings,
      });
      await watcher.initialize();
      const over = new AbortController();
      const camera = { answers: 0, ends: {} as Record<string, number> };
      const frames: VideoFrame[] = [];
      const film = (length: number): ReadableStream<VideoFrame> => {
        const canvas = new OffscreenCanvas(8, 8);
        const context = canvas.getContext('2d')!;
        let number = 0;
        let isClosed = false;
        return new ReadableStream<VideoFrame>({
          async pull(controller) {
            await new Promise((resolve) => setTimeout(resolve, 4));
            if (isClosed) return;
            if (number === length) return controller.close();
            number += 1;
            context.fillStyle = `rgb(${number} 0 0)`;
            context.fillRect(0, 0, 8, 8);
            frames.push(new VideoFrame(canvas, { timestamp: number }));
            controller.enqueue(frames.at(-1)!);
          },
          cancel: () => void (isClosed = true),
        });
      };
      let streams = 0;
      const watch = async (): Promise<void> => {
        while (!over.signal.aborted) {
          // With a worker lost at every few frames, the browser has no GPU contexts left for the requests.
          const kind =
            streams++ < kinds.length / 8
              ? pick(['plain', 'close', 'crash', 'throw', 'aborted', 'terminated'] as const)
              : 'plain';
          const { timeout: _, transfer: __, ...options } = optionsOf(kind, 'frames') as Record<string, never>;
          let read = 0;
          let end = 'break';
          try {
            for await (const { result, timestamp, dropped } of watcher.frames(film(200), options)) {
              if ((read += dropped + 1) !== timestamp) wrong.push(`frame ${timestamp} after ${read - 1}`);
              const expected = right([timestamp, 0, 0, 8]);
              const { data } = (result as Outputs).y;
              if (!expected.every((value, row) => Math.abs(value - data[row]!) <= 1e-2 * (1 + Math.abs(value))))
                wrong.push(`frame ${timestamp}: ${[...data].join()} for ${expected.join()}`);
              camera.answers += 1;
              if (over.signal.aborted || read > 60) break;
            }
          } catch (error) {
            end = (error as { code?: string }).code ?? String(error);
          }
          camera.ends[end] = (camera.ends[end] ?? 0) + 1;
        }
      };
      // A writer beside them: its answers go on where a lost worker has left them. WebGL runs no language model.
      const writes = backend !== 'webgl';
      // Its workers are ended by its own faults alone: a request that loses two is not tried again.
      const writers: Worker[] = [];
      const writer = window.tabserve.connect<TextGenerator>(
        () => {
          writers.push(window.workers.faultyWriter());
          return writers.at(-1)!;
        },
        {
          model: '/test/models/generation/llama/',
          backends: [`onnx/${backend}`],
          ...settings,
          batchSize: 1,
          // The software adapter compiles for seconds what a prompt needs first. None of its faults hangs.
          responseTimeout: 60,
        },
      );
      const prompt = 'Tell me a story';
      const greedy = { maxNewTokens: 16 };
      const answers = [greedy, { ...greedy, doSample: true, temperature: 3, seed: 5 }];
      const whole: string[] = [];
      if (writes) {
        await writer.initialize();
        for (const params of answers) whole.push((await writer.predict(prompt, { params })).text);
      }
      const written = { answers: 0, ends: {} as Record<string, number> };
      const write = async (): Promise<void> => {
        const always = ['plain', 'close', 'crash', 'memory', 'terminated', 'aborted'] as const;
        const lot = backend === 'webgpu' ? ([...always, 'lose'] as const) : always;
        // Each kind at least once.
        for (let at = 0; at < lot.length || !over.signal.aborted; at++) {
          const kind = lot[at] ?? pick(lot);
          const way = pick([0, 1]);
          const { params: faulty, ...options } = optionsOf(kind, 'frames', writers) as {
            params?: { fault: { stage: string } };
          };
          if (faulty) faulty.fault.stage = 'inference';
          let text = '';
          let end = 'answer';
          try {
            const params = { ...answers[way], ...faulty };
            for await (const item of writer.stream(prompt, { ...options, params: params as never })) {
              if (typeof item === 'string') text += item;
              else if ('text' in item && item.text !== text)
                wrong.push(`a result other than its parts: ${item.text}, ${text}`);
            }
            if (text !== whole[way]) wrong.push(`${kind}: wrote ${text} for ${whole[way]}`);
            written.answers += 1;
          } catch (error) {
            end = (error as { code?: string }).code ?? String(error);
            if (!whole[way]!.startsWith(text)) wrong.push(`${kind}: wrote ${text} for ${whole[way]}`);
          }
          written.ends[`${kind}: ${end}`] = (written.ends[`${kind}: ${end}`] ?? 0) + 1;
        }
      };
      // One who follows people beside them. Whoever is in the picture stays there, with the same number.
      const followed = { answers: 0, ends: {} as Record<string, number> };
      const follow = async (name: 'face' | 'hand' | 'pose', photo: ImageBitmap): Promise<void> => {
        const followers: Worker[] = [];
        const follower = window.tabserve.connect<FaceLandmarker | HandLandmarker | PoseLandmarker>(
          () => {
            followers.push(window.workers.faultyLandmarks(name));
            return followers.at(-1)!;
          },
          // The models of hands take seconds beside all others.
          {
            model: `/models/${name}/`,
            backends: [backend === 'webgl' ? 'tfjs/webgl' : `onnx/${backend}`],
            startupTimeout: 60,
            responseTimeout: 60,
          },
        );
        await follower.initialize();
        const sequence = follower.openSequence();
        let first: readonly number[] | undefined;
        const faults = backend === 'wasm' ? (['close', 'crash', 'memory'] as const) : (['close', 'lose'] as const);
        for (const kind of ['plain', ...faults, 'terminated', 'aborted', 'throw', 'plain'] as const) {
          const options = optionsOf(kind, 'frames', followers) as { params?: { fault: { stage: string } } };
          if (options.params) options.params.fault.stage = 'inference';
          let end = 'answer';
          try {
            const found = await sequence.predict(photo, options as never);
            const ids = found.map(({ id }) => id!).toSorted((a, b) => a - b);
            if (ids.join() !== (first ??= ids).join())
              wrong.push(`${name}, ${kind}: ids ${ids.join()} for ${first.join()}`);
            if (ids.length === 0) wrong.push(`${name}, ${kind}: nobody`);
            followed.answers += 1;
          } catch (error) {
            end = (error as { code?: string }).code ?? String(error);
          }
          followed.ends[`${kind}: ${end}`] = (followed.ends[`${kind}: ${end}`] ?? 0) + 1;
        }
        await sequence.end();
        await follower.dispose();
      };
      const followAll = async (): Promise<void> => {
        const photos = [
          ['face', '/models/selfie/samples/astronaut.jpg'],
          ['hand', '/models/hand/samples/sofa.jpg'],
          ['pose', '/models/selfie/samples/astronaut.jpg'],
        ] as const;
        // In software, a GPU takes minutes to compile what hands and bodies need.
        for (const [name, url] of photos.slice(0, backend === 'wasm' ? 3 : 1))
          await follow(name, await createImageBitmap(await (await fetch(url)).blob()));
      };
      const request = async (index: number): Promise<void> => {
        const x = [index % 7, index % 11, -(index % 5), index / kinds.length];
        try {
          const { y } = await make[ways[index]!](x, optionsOf(kinds[index]!, ways[index]!));
          outcomes[index] = 'answer';
          const expected = right(x);
          if (!expected.every((value, row) => Math.abs(value - y.data[row]!) <= 1e-3))
            wrong.push(`${index}: ${[...y.data].join()} for ${expected.join()}`);
        } catch (error) {
          outcomes[index] = (error as { code?: string }).code ?? String(error);
        }
      };

      let next = 0;
      const lane = async (): Promise<void> => {
        while (next < kinds.length) await request(next++);
      };
      // If a request never settles, the log says more than a test's timeout.
      const stalled = new Promise<string>((resolve) => setTimeout(() => resolve(client.diagnose()), timeoutMs));
      const watching = Promise.all([watch(), writes && write(), followAll()]);
      const lanes = Promise.all(Array.from({ length: 6 }, lane)).then(async () => {
        over.abort();
        await watching;
        return '';
      });
      const log = await Promise.race([lanes, stalled]);
      const after = counts();
      await client.dispose();
      await watcher.dispose();
      await writer.dispose();
      for (const { timestamp, format } of frames) if (format !== null) wrong.push(`frame ${timestamp} stays open`);
      const counted = Object.fromEntries(
        Object.entries(after).map(([outcome, count]) => [outcome, count - (before[outcome] ?? 0)]),
      );
      const happened = (await window.faultsSeen()).flatMap((id) => faults.get(id) ?? []);
      return {
        outcomes,
        wrong,
        counted,
        responses,
        recoveries,
        happened,
        camera,
        writer: written,
        follower: followed,
        workers: made.length,
        log,
      };
    },
    { backend, kinds, ways, seed: SEED, timeoutMs: Math.max(150_000, requests * 1000) },
  );
  const { outcomes, wrong, counted, responses, recoveries, happened, camera, writer, follower, workers, log } = tally;
  const seen: Record<string, Record<string, number>> = {};
  for (const [index, kind] of kinds.entries()) {
    const row = (seen[ways[index] === 'predict' ? kind : `${kind} by ${ways[index]}`] ??= {});
    row[outcomes[index]!] = (row[outcomes[index]!] ?? 0) + 1;
  }
  const summary = { outcomes: seen, camera, writer, follower, recoveries, workers };
  console.log(`chaos on ${backend}, seed ${SEED}: ${JSON.stringify(summary)}`);

  expect(
    outcomes.flatMap((outcome, index) => (outcome === 'pending' ? [index] : [])),
    log,
  ).toEqual([]);
  expect(wrong).toEqual([]);
  // The client has counted each request once, with the outcome that its caller saw.
  const total: Record<string, number> = {};
  for (const outcome of outcomes) {
    const name = outcome === 'answer' ? 'ok' : outcome;
    total[name] = (total[name] ?? 0) + 1;
  }
  expect(counted).toEqual(total);
  expect(responses).toBe(total['ok']);
  // A request whose fault comes only when it runs again, alone, may fail: of a hundred one, and of few requests one.
  const unexpected = outcomes.flatMap((outcome, index) =>
    [...ALLOWED[kinds[index]!], ...(ways[index] === 'stream' ? LOST : [])].includes(outcome)
      ? []
      : [`${index}, ${kinds[index]} by ${ways[index]}: ${outcome}`],
  );
  expect(unexpected.length, unexpected.join('\n')).toBeLessThanOrEqual(Math.ceil(requests * 0.01));
  for (const one of unexpected) expect(one).toMatch(/: (worker-lost|device-lost|out-of-memory)$/);
  // Every fault that was asked for has happened, and workers were replaced.
  const asked = kinds.filter((kind, index) => FAULTS.has(kind) && ways[index] === 'predict');
  expect(happened.toSorted()).toEqual(asked.toSorted());
  expect(camera.answers).toBeGreaterThan(0);
  for (const end of Object.keys(camera.ends)) expect(['break', 'aborted', 'handler-failed']).toContain(end);
  if (backend !== 'webgl') expect(writer.answers).toBeGreaterThan(0);
  for (const end of Object.keys(writer.ends)) expect(end).toMatch(/: answer$|^aborted: aborted$/);
  expect(follower.answers).toBeGreaterThanOrEqual(backend === 'wasm' ? 3 * 6 : 5);
  for (const end of Object.keys(follower.ends))
    expect(end).toMatch(/: answer$|^aborted: aborted$|^throw: handler-failed$/);
  expect(recoveries).toBeGreaterThan(0);
  await expect.poll(() => page.workers().length).toBe(0);
});
