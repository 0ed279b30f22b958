/** Ours: the worker, the built-in image classifier. */
import { load, type Timings } from '../../../src/index.ts';
import { CHANNELS, HEIGHT, LABELS, MODEL_URL, SESSION_OPTIONS, THREADS, WIDTH, type Answer } from '../model.ts';

export interface Ours {
  classify(file: File): Promise<Answer>;
  predictTensor(pixels: Float32Array): Promise<Answer>;
  /** Preprocesses the photos as one batch and one by one, in turns; the first turns are not measured. */
  photos(files: readonly File[], rounds: number): Promise<Photos>;
  /** How long each stage of the last request took, in the worker. */
  lastTimings(): Timings;
}

/** Milliseconds of each round. */
export type Photos = Readonly<Record<'together' | 'singly', readonly number[]>>;

export const CONFIG = {
  engine: { threads: THREADS, graphOptimizationLevel: SESSION_OPTIONS.graphOptimizationLevel },
  handler: {
    imageProcessing: [{ resize: [HEIGHT, WIDTH] }, 'toTensor'],
    output: 'logits',
    topK: LABELS.length,
    labels: LABELS,
    result: 'torchserve',
  },
} as const;

const OPTIONS = { handler: 'image_classifier', backends: ['wasm'], config: CONFIG } as const;

/** The built-in worker, as `load` makes it. */
export function makeWorker(): Worker {
  return new Worker(new URL('../../../src/worker/default.worker.ts', import.meta.url), { type: 'module' });
}

export async function openOurs(): Promise<Ours> {
  const client = await load(MODEL_URL, OPTIONS);
  if (client.backend?.threads !== THREADS) throw new Error(`Ours runs on ${client.backend?.threads} threads.`);
  let last: Timings = {};
  client.on('response', ({ timings }) => (last = timings));
  return {
    classify: (file) => client.predict(file),
    predictTensor: (pixels) => client.predict({ data: pixels, dims: [CHANNELS, HEIGHT, WIDTH] }),
    async photos(files, rounds) {
      const times = { together: [] as number[], singly: [] as number[] };
      for (let round = -1; round < rounds; round++) {
        await client.handle(files);
        const together = last.preprocess!;
        let singly = 0;
        for (const file of files) {
          await client.predict(file);
          singly += last.preprocess!;
        }
        if (round < 0) continue;
        times.together.push(together);
        times.singly.push(singly);
      }
      return times;
    },
    lastTimings: () => last,
  };
}
