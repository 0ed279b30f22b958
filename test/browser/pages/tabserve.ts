import { wrap, type Remote } from 'comlink';
import type { CandidateName } from '../../../src/contract/backends.ts';
import type { Stage } from '../../../src/contract/stages.ts';
import * as tabserve from '../../../src/index.ts';
import { ModelServer } from '../../../src/serving.ts';
import { random } from '../../random.ts';
import type { Failure } from '../fixtures.ts';
import type { Bare } from '../workers/bare-engine.ts';
import { tensors } from '../golden-tensors.ts';
import type { Fault } from '../workers/faulty.worker.ts';
import type { Asked } from '../workers/gated.worker.ts';

/** The handlers of the tests' own, each in a worker module. */
export const workers = {
  failing: () => new Worker(new URL('../workers/failing.worker.ts', import.meta.url), { type: 'module' }),
  counting: () => new Worker(new URL('../workers/counting.worker.ts', import.meta.url), { type: 'module' }),
  shouting: () => new Worker(new URL('../workers/shouting.worker.ts', import.meta.url), { type: 'module' }),
  faulty: () => new Worker(new URL('../workers/faulty.worker.ts', import.meta.url), { type: 'module' }),
  faultyRecognizer: () =>
    new Worker(new URL('../workers/faulty-recognizer.worker.ts', import.meta.url), { type: 'module' }),
  faultyVoice: () => new Worker(new URL('../workers/faulty-voice.worker.ts', import.meta.url), { type: 'module' }),
  faultyWriter: () => new Worker(new URL('../workers/faulty-writer.worker.ts', import.meta.url), { type: 'module' }),
  faultyLandmarks: (name?: 'face' | 'hand' | 'pose') =>
    new Worker(new URL('../workers/faulty-landmarks.worker.ts', import.meta.url), {
      type: 'module',
      ...(name && { name }),
    }),
  fuzz: () => new Worker(new URL('../workers/fuzz.worker.ts', import.meta.url), { type: 'module' }),
  gpuAsking: () => new Worker(new URL('../workers/gpu-asking.worker.ts', import.meta.url), { type: 'module' }),
  raw: () => new Worker(new URL('../workers/raw.worker.ts', import.meta.url), { type: 'module' }),
  gated: () => new Worker(new URL('../workers/gated.worker.ts', import.meta.url), { type: 'module' }),
  hungStore: () => new Worker(new URL('../workers/hung-store.worker.ts', import.meta.url), { type: 'module' }),
  odd: () => new Worker(new URL('../workers/odd-engines.worker.ts', import.meta.url), { type: 'module' }),
  oddWriter: () => new Worker(new URL('../workers/odd-writer.worker.ts', import.meta.url), { type: 'module' }),
  lean: () => new Worker(new URL('../workers/lean.worker.ts', import.meta.url), { type: 'module' }),
  impatient: () => new Worker(new URL('../workers/impatient.worker.ts', import.meta.url), { type: 'module' }),
  noJspi: () => new Worker(new URL('../workers/no-jspi.worker.ts', import.meta.url), { type: 'module' }),
  slow: () => new Worker(new URL('../workers/slow-to-load.worker.ts', import.meta.url), { type: 'module' }),
  silent: () => new Worker(new URL('../workers/silent.worker.ts', import.meta.url), { type: 'module' }),
  streaming: () => new Worker(new URL('../workers/streaming.worker.ts', import.meta.url), { type: 'module' }),
  standard: () => new Worker(new URL('../../../src/worker/default.worker.ts', import.meta.url), { type: 'module' }),
  throwing: () => new Worker(new URL('../workers/throwing.worker.ts', import.meta.url), { type: 'module' }),
};

/** Asks `workers.faulty` for a fault: this many times, each in another worker. */
function fault(kind: Fault['kind'], stage: Fault['stage'], times: number): { params: { fault: Fault } } {
  return { params: { fault: { id: crypto.randomUUID(), kind, stage, times } } };
}

/** Reads what `workers.faulty` has counted. */
async function faultsSeen(): Promise<string[]> {
  const opened = await new Promise<IDBDatabase>((resolve, reject) => {
    const opening = indexedDB.open('faults', 1);
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error);
  });
  const keys = opened.transaction('counts').objectStore('counts').getAllKeys();
  return await new Promise((resolve, reject) => {
    keys.onsuccess = () => resolve(keys.result.map(String));
    keys.onerror = () => reject(keys.error);
  });
}

/** What holds a request in a stage of `workers.gated`: a lock, which tells who waits for it. */
export interface Gate {
  readonly params: Asked;
  /** Fulfilled when the request waits there. */
  reached(): Promise<void>;
  open(): void;
}

let gates = 0;
async function gate(stage: Stage): Promise<Gate> {
  const name = `gate ${gates++}`;
  const open = await new Promise<() => void>(
    (ready) => void navigator.locks.request(name, () => new Promise<void>((resolve) => ready(resolve))),
  );
  const waits = async (): Promise<boolean> =>
    (await navigator.locks.query()).pending!.some((lock) => lock.name === name);
  return {
    params: { gate: { name, stage } },
    async reached() {
      while (!(await waits())) await new Promise((resolve) => setTimeout(resolve, 5));
    },
    open,
  };
}

/** An engine with nothing around it. */
async function engine(candidate: CandidateName): Promise<Remote<Bare>> {
  const bare = wrap<Bare>(new Worker(new URL('../workers/engine.worker.ts', import.meta.url), { type: 'module' }));
  await bare.start(candidate);
  return bare;
}

async function failure(work: Promise<unknown> | (() => unknown)): Promise<Failure> {
  let value: unknown;
  try {
    value = await (typeof work === 'function' ? work() : work);
  } catch (error) {
    const { name, code, stage, message, cause } = error as Failure;
    return { name, code, stage, message, cause: cause === undefined ? undefined : String(cause) };
  }
  throw new Error(`expected a failure, got ${JSON.stringify(value)}`);
}

/** `await using`, which Playwright's own transpiler does not carry into a page. */
async function disposal(): Promise<{ inside: string; after: string }> {
  let kept: tabserve.Client | undefined;
  let inside = '';
  {
    await using client = await tabserve.load('/test/models/affine_fixed.onnx', {
      handler: 'base_handler',
      backends: ['wasm'],
    });
    kept = client as unknown as tabserve.Client;
    inside = client.backend!.name;
  }
  return { inside, after: (await failure(kept.describe())).code };
}

Object.assign(window, {
  tabserve,
  ModelServer,
  workers,
  engine,
  tensors,
  fault,
  faultsSeen,
  gate,
  failure,
  random,
  disposal,
});
