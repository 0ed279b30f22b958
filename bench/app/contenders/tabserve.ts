/** Ours: the worker, the built-in image classifier. */
import { load, type Timings } from '../../../src/index.ts';
import { CHANNELS, HEIGHT, LABELS, MEAN, MODEL_URL, SESSION_OPTIONS, STD, THREADS, WIDTH, type Answer } from '../model.ts';

export interface Ours {
  classify(file: File): Promise<Answer>;
  predictTensor(pixels: Float32Array): Promise<Answer>;
  /** How long each stage of the last request took, in the worker. */
  lastTimings(): Timings;
}

export async function openOurs(): Promise<Ours> {
  const client = await load(MODEL_URL, {
    handler: 'image_classifier',
    backends: ['wasm'],
    config: {
      engine: { threads: THREADS, graphOptimizationLevel: SESSION_OPTIONS.graphOptimizationLevel },
      handler: {
        imageProcessing: [{ resize: [HEIGHT, WIDTH] }, { colorOrder: 'BGR' }, 'toTensor', { normalize: { mean: Array(CHANNELS).fill(MEAN), std: Array(CHANNELS).fill(STD) } }],
        output: 'logits',
        topK: LABELS.length,
        labels: LABELS,
      },
    },
  });
  if (client.backend?.threads !== THREADS) throw new Error(`Ours runs on ${client.backend?.threads} threads.`);
  let last: Timings = {};
  client.on('response', ({ timings }) => (last = timings));
  return {
    classify: (file) => client.predict(file),
    predictTensor: (pixels) => client.predict({ data: pixels, dims: [CHANNELS, HEIGHT, WIDTH] }),
    lastTimings: () => last,
  };
}
