import { memory } from '@tensorflow/tfjs-core';
import type { CandidateName, ModelFormat } from '../../../src/contract/backends.ts';
import type { OutputInfo, Session, TensorInfo, Tensors } from '../../../src/contract/tensors.ts';
import type { Engine, Engines } from '../../../src/worker/engines/engine.ts';
import { errorToData, type ErrorData } from '../../../src/contract/error-data.ts';
import { fetchArchive } from '../../../src/worker/models/archive.ts';
import { fetchModel } from '../../../src/worker/models/model-files.ts';
import { createFiles } from '../../../src/worker/models/files.ts';

export type Attempt<T> =
  | { readonly value: T; readonly error?: undefined }
  | { readonly value?: undefined; readonly error: ErrorData };

async function attempt<T>(work: () => Promise<T>): Promise<Attempt<T>> {
  try {
    return { value: await work() };
  } catch (error) {
    return { error: errorToData(error) };
  }
}

export interface BareOptions {
  readonly engines: Engines;
  /** What the models' URLs are relative to. */
  readonly base: string;
  readonly fetch: typeof fetch;
  /** Loses the GPU. */
  readonly lose: () => void;
}

/** Returns one engine with nothing around it: no handler, no client. Sessions have numbers. */
export const createBare = ({ engines, base, fetch, lose }: BareOptions) => {
  const sessions: Session[] = [];
  let engine: Engine;
  let format: ModelFormat;
  return {
    async start(candidate: CandidateName): Promise<void> {
      format = candidate.split('/')[0] as ModelFormat;
      engine = await engines[candidate]!({ assets: undefined, threads: 1, onLost: () => {} });
    },
    open: (url: string): Promise<Attempt<number>> =>
      attempt(async () => {
        const options = { fetch };
        const archive = await fetchArchive(new URL(url.replace(/^\//, ''), base).href, options);
        const { files, models } = await fetchModel(archive, format, options);
        return sessions.push(await engine.open(createFiles(files), models[format]!, {})) - 1;
      }),
    describe: (id: number): { inputs: readonly TensorInfo[]; outputs: readonly OutputInfo[] } => ({
      inputs: sessions[id]!.inputs,
      outputs: sessions[id]!.outputs,
    }),
    run: (id: number, feeds: Tensors): Promise<Attempt<Tensors>> => attempt(() => sessions[id]!.run(feeds)),
    dispose: (id: number): Promise<Attempt<void>> => attempt(async () => sessions[id]![Symbol.asyncDispose]()),
    /** Tensors and bytes that TensorFlow.js holds. */
    memory(): { numTensors: number; numBytes: number } {
      const { numTensors, numBytes } = memory();
      return { numTensors, numBytes };
    },
    /** Runs with the same feeds, one after another. */
    repeat: (id: number, feeds: Tensors, times: number): Promise<Attempt<void>> =>
      attempt(async () => {
        for (let i = 0; i < times; i++) await sessions[id]!.run(feeds);
      }),
    /** Loses the GPU while a run is under way. */
    loseDuring(id: number, feeds: Tensors): Promise<Attempt<Tensors>> {
      const running = attempt(() => sessions[id]!.run(feeds));
      lose();
      return running;
    },
  };
};

export type Bare = ReturnType<typeof createBare>;
