/** The page's side: opens the contenders, and lets them run in turns. `bench/run.mjs` calls it. */
import { handWrite } from './contenders/hand-written.ts';
import { openBareCall } from './contenders/bare-call.ts';
import { openBrowserDecode } from './contenders/browser-decode.ts';
import { openPlainWorker } from './contenders/plain-worker.ts';
import { openRaw } from './contenders/raw.ts';
import { openOurs, type Photos } from './contenders/tabserve.ts';
import { openTransformers } from './contenders/transformers.ts';
import { toAnswer, type Answer } from './model.ts';
import { makePhoto } from './photo.ts';

/** Between two runs from a file: what the last one left behind (garbage, closing frames) is not the next one's. */
const PAUSE_MS = 20;

interface Contender {
  readonly name: string;
  run(): Promise<Answer>;
}

export interface Samples {
  /** Milliseconds of each round, by contender. */
  readonly times: Readonly<Record<string, readonly number[]>>;
  /** Milliseconds of each round, by contender and stage. */
  readonly stages: Readonly<Record<string, readonly Readonly<Record<string, number>>[]>>;
  readonly answers: Readonly<Record<string, Answer>>;
}

export interface Bench {
  readonly versions: Readonly<Record<string, string>>;
  makePhoto(width: number, height: number): Promise<{ bytes: number }>;
  /** Lets those that start from the same thing take turns; with or without a pause before each run. */
  time(what: 'tensor' | 'file', options: { rounds: number; warmUps: number; paused: boolean }): Promise<Samples>;
  /** Milliseconds of preprocessing so many copies of the photo, as one batch and one by one, by round. */
  photos(count: number, rounds: number): Promise<Photos>;
  /** Runs one alone, with each run marked for the trace; `idle` is one too. */
  mark(name: string, rounds: number): Promise<void>;
}

async function open(): Promise<Bench> {
  const raw = await openRaw();
  const handWritten = handWrite(raw);
  const ours = await openOurs();
  const bareCall = await openBareCall();
  const plainWorker = await openPlainWorker();
  const browserDecode = openBrowserDecode();
  const transformers = await openTransformers();
  let photo: File | undefined;
  let contenders: Readonly<Record<'tensor' | 'file', readonly Contender[]>> | undefined;

  return {
    versions: { raw: raw.version, transformers: transformers.version, transformersOrt: transformers.ortVersion },
    async makePhoto(width, height) {
      const file = (photo = await makePhoto(width, height));
      const pixels = await handWritten.toTensor(file);
      contenders = {
        tensor: [
          { name: 'raw', run: async () => toAnswer(await raw.run(pixels)) },
          { name: 'oursTensor', run: () => ours.predictTensor(pixels) },
          { name: 'bareCall', run: () => bareCall(pixels) },
          { name: 'plainWorker', run: () => plainWorker(pixels) },
        ],
        file: [
          { name: 'handWritten', run: () => handWritten.classify(file) },
          { name: 'transformers', run: () => transformers.classify(file) },
          { name: 'oursFile', run: () => ours.classify(file) },
          { name: 'browserDecode', run: () => browserDecode(file).then(() => ({})) },
        ],
      };
      return { bytes: file.size };
    },
    time: (what, { rounds, warmUps, paused }) =>
      takeTurns(contenders![what], rounds, warmUps, paused ? () => pause(PAUSE_MS) : nextTask, ours.lastTimings),
    photos: (count, rounds) =>
      ours.photos(
        Array.from({ length: count }, () => photo!),
        rounds,
      ),
    async mark(name, rounds) {
      const idle = { name: 'idle', run: () => pause(50).then(() => ({})) };
      const contender = [...contenders!.tensor, ...contenders!.file, idle].find((one) => one.name === name)!;
      for (let round = 0; round < rounds; round++) {
        await pause(PAUSE_MS);
        performance.mark(`bench ${name} start`);
        await contender.run();
        performance.mark(`bench ${name} end`);
      }
    },
  };
}

/** A, B, C, then B, C, A, and so on: nobody always follows the same one. */
async function takeTurns(
  contenders: readonly Contender[],
  rounds: number,
  warmUps: number,
  wait: () => Promise<void>,
  timings: () => Readonly<Record<string, number>>,
): Promise<Samples> {
  const times: Record<string, number[]> = Object.fromEntries(contenders.map(({ name }) => [name, []]));
  const stages: Record<string, Readonly<Record<string, number>>[]> = { oursTensor: [], oursFile: [] };
  const answers: Record<string, Answer> = {};
  for (let round = -warmUps; round < rounds; round++) {
    for (let turn = 0; turn < contenders.length; turn++) {
      const { name, run } = contenders[(round + warmUps + turn) % contenders.length]!;
      await wait();
      const started = performance.now();
      answers[name] = await run();
      const took = performance.now() - started;
      if (round < 0) continue;
      times[name]!.push(took);
      stages[name]?.push({ ...timings() });
    }
  }
  return { times, stages, answers };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}

/** `setTimeout(0)` would wait for 4 ms. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}

(globalThis as { bench?: Promise<Bench> }).bench = open();
