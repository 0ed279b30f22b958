/**
 * The page's side of the sections on threads, smaller weights and WebNN, which `bench/threads.mjs`,
 * `bench/precisions.mjs` and `bench/webnn.mjs` call.
 */
import { load, type CandidateName, type Client } from '../../../src/index.ts';
import { makePhoto } from '../photo.ts';

/** What a client runs with. */
export interface Setting {
  readonly name: string;
  readonly candidate: CandidateName;
  readonly threads: number;
  /** @default the model of all settings */
  readonly model?: string;
  readonly workers?: number;
  readonly freeDimensions?: Readonly<Record<string, number>>;
}

/** What a setting has shown. */
interface Measured {
  /** Milliseconds of the inference, by round. */
  readonly times: number[];
  readonly threads: number;
  readonly proof: string;
  /** Milliseconds from the call of `load` to the first answer, with nothing else at work. */
  readonly firstAnswer: number;
  /** Megabytes of the engine's memory. */
  readonly memory: number;
}

export interface TurnsOptions {
  readonly model?: string;
  readonly handler: 'image_classifier' | 'image_segmenter' | 'object_detector';
  readonly settings: readonly Setting[];
  readonly warmUps: number;
  readonly rounds: number;
}

const PHOTO = { width: 640, height: 480 };

function open(
  options: TurnsOptions,
  { candidate, threads, workers = 1, freeDimensions, model = options.model }: Setting,
) {
  return load(model!, {
    handler: options.handler,
    backends: [candidate],
    minWorkers: workers,
    batchSize: 1,
    config: { engine: { threads, ...(freeDimensions && { freeDimensions }) } },
  });
}

/** Opens a client for each setting, one after the other, and measures the inference of one photo in turns. */
async function measureTurns(options: TurnsOptions): Promise<Record<string, Measured>> {
  const photo = await makePhoto(PHOTO.width, PHOTO.height);
  // An engine is compiled once for a page: whoever came first would wait for that.
  await (await open(options, options.settings[0]!)).dispose();
  const contenders: (Measured & { readonly name: string; readonly client: Client; last: number })[] = [];
  for (const setting of options.settings) {
    const since = performance.now();
    const client = await open(options, setting);
    await client.predict(photo);
    const firstAnswer = performance.now() - since;
    const { threads, proof } = client.backend!;
    const memory = Number(/MemoryUsed\S* ([\d.]+)/.exec(client.metrics.prometheus())?.[1]);
    const contender = { name: setting.name, client, threads, proof, times: [], firstAnswer, memory, last: 0 };
    client.on('response', ({ timings }) => (contender.last = timings.inference ?? 0));
    contenders.push(contender);
  }
  for (let round = -options.warmUps; round < options.rounds; round++) {
    for (let turn = 0; turn < contenders.length; turn++) {
      const contender = contenders[(round + options.warmUps + turn) % contenders.length]!;
      await contender.client.predict(photo);
      if (round >= 0) contender.times.push(contender.last);
    }
  }
  for (const { client } of contenders) await client.dispose();
  return Object.fromEntries(contenders.map(({ name, client: _client, last: _last, ...measured }) => [name, measured]));
}

/**
 * Sends so many photos at once to each setting, in turns. Returns milliseconds from the first call to the last answer,
 * by setting and round.
 */
async function measureThroughput(
  options: TurnsOptions & { readonly requests: number },
): Promise<Record<string, number[]>> {
  const photo = await makePhoto(PHOTO.width, PHOTO.height);
  const times: Record<string, number[]> = {};
  for (let round = -options.warmUps; round < options.rounds; round++) {
    for (const setting of options.settings) {
      await using client = await open(options, setting);
      const ask = (): Promise<unknown> =>
        Promise.all(Array.from({ length: options.requests }, () => client.predict(photo)));
      await ask();
      const started = performance.now();
      await ask();
      if (round >= 0) (times[setting.name] ??= []).push(performance.now() - started);
    }
  }
  return times;
}

const turns = { measureTurns, measureThroughput };
export type Turns = typeof turns;

Object.assign(globalThis, { turns });
