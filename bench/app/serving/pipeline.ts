import type { ImageClassifier } from '../../../src/worker/tasks/pictures/image-classifier.ts';
import { load, type Client } from '../../../src/index.ts';
import { CONFIG } from '../contenders/tabserve.ts';
import { MODEL_URL } from '../model.ts';
import { makePhoto } from '../photo.ts';

/** More than there are workers, or batches in one: there is always a next one. */
const CALLERS = 4;

/** On a GPU, which may be a software's, the smallest image classifier that there is. */
const MODELS = {
  wasm: { url: MODEL_URL, options: { config: CONFIG, minWorkers: 2, maxWorkers: 2 } },
  webgpu: { url: '/models/digits/', options: {} },
} as const;

export interface PipelineOptions {
  readonly backend: keyof typeof MODELS;
  /** Pixels of the photo. */
  readonly width: number;
  readonly height: number;
  readonly rounds: number;
  /** Requests in a round: one after another, and then pipelined. */
  readonly requests: number;
}

/**
 * Milliseconds by round: of one request in each stage when it runs alone, and what one takes of the clock when others
 * run too.
 */
export interface Pipeline {
  readonly preprocess: readonly number[];
  readonly inference: readonly number[];
  /** From call to answer, alone. */
  readonly alone: readonly number[];
  readonly pipelined: readonly number[];
}

/** Photos, one at a time in turns with as many as go. */
export async function measurePipeline({
  backend,
  width,
  height,
  rounds,
  requests,
}: PipelineOptions): Promise<Pipeline> {
  const { url, options } = MODELS[backend];
  const client = (await load(url, {
    handler: 'image_classifier',
    backends: [`onnx/${backend}`],
    ...options,
  })) as unknown as Client<ImageClassifier>;
  const photo = await makePhoto(width, height);
  await allWorkers(client);
  const samples: Record<keyof Pipeline, number[]> = { preprocess: [], inference: [], alone: [], pipelined: [] };
  for (let round = -1; round < rounds; round++) {
    const taken = {
      ...(await timeAlone(client, photo, requests)),
      pipelined: await timePipelined(client, photo, requests),
    };
    if (round < 0) continue;
    for (const [name, took] of Object.entries(taken)) samples[name as keyof Pipeline].push(took);
  }
  await client.dispose();
  return samples;
}

/** `minWorkers` are opened in the background. */
async function allWorkers(client: Client<ImageClassifier>): Promise<void> {
  for (;;) {
    const { workers, config } = await client.describe();
    if (workers >= config.minWorkers) return;
    await new Promise((resolve) => void setTimeout(resolve, 100));
  }
}

async function timeAlone(
  client: Client<ImageClassifier>,
  photo: File,
  requests: number,
): Promise<Record<'preprocess' | 'inference' | 'alone', number>> {
  const sums = { preprocess: 0, inference: 0 };
  const stop = client.on('response', ({ timings }) => {
    sums.preprocess += timings.preprocess!;
    sums.inference += timings.inference!;
  });
  const started = performance.now();
  for (let request = 0; request < requests; request++) await client.predict(photo);
  const alone = (performance.now() - started) / requests;
  stop();
  return { preprocess: sums.preprocess / requests, inference: sums.inference / requests, alone };
}

/** From the first answer on, when all are under way, until as many more have come: the callers go on until then. */
async function timePipelined(client: Client<ImageClassifier>, photo: File, requests: number): Promise<number> {
  let [started, ended, answered] = [0, 0, 0];
  const caller = async (): Promise<void> => {
    while (answered <= requests + CALLERS) {
      await client.predict(photo);
      answered += 1;
      if (answered === CALLERS) started = performance.now();
      if (answered === CALLERS + requests) ended = performance.now();
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return (ended - started) / requests;
}
