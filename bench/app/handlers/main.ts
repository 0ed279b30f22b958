/** The page's side of the section on handlers. `bench/handlers.mjs` calls it. */
import { load, type Timings } from '../../../src/index.ts';
import { makePhoto } from '../photo.ts';

const OPTIONS = { backends: ['onnx/wasm'], config: { engine: { threads: 1 } } } as const;

export interface ReadingOptions {
  /** The photo's URL. */
  readonly photo: string;
  readonly warmUps: number;
  readonly rounds: number;
}

/** Milliseconds by round. */
export interface Reading {
  /** From the call to the answer. */
  readonly elapsed: number[];
  /** By node of the workflow: all of its batches of one photo together. */
  readonly nodes: Record<string, Timings[]>;
  /** Lines of text in the photo. */
  readonly lines: number;
}

/** Reads the text of one photo, again and again. */
async function measureReading({ photo, warmUps, rounds }: ReadingOptions): Promise<Reading> {
  const client = await load('/models/ocr/', { handler: 'text_reader', ...OPTIONS });
  const input = await (await fetch(photo)).blob();
  let nodes: Readonly<Record<string, Timings>> = {};
  client.on('response', (response) => (nodes = response.nodes ?? {}));
  const reading = { elapsed: [] as number[], nodes: {} as Record<string, Timings[]>, lines: 0 };
  for (let round = -warmUps; round < rounds; round++) {
    const started = performance.now();
    const lines = await client.predict(input);
    const elapsed = performance.now() - started;
    if (round < 0) continue;
    reading.elapsed.push(elapsed);
    reading.lines = lines.length;
    for (const [node, timings] of Object.entries(nodes)) (reading.nodes[node] ??= []).push(timings);
  }
  await client.dispose();
  return reading;
}

export interface ExplainingOptions {
  readonly width: number;
  readonly height: number;
  readonly rounds: number;
  /** Options of `explain`, by name. */
  readonly methods: Readonly<Record<string, { readonly method: 'occlusion' | 'rise'; readonly masks?: number }>>;
}

/** Milliseconds by round, and how many variants of the photo the model ran on. */
export interface Explaining {
  /** The inference of one photo alone. */
  readonly inference: number[];
  readonly methods: Record<string, { readonly elapsed: number[]; variants: number }>;
}

/** Explains the answer to one photo with each method, in turns with plain requests. */
async function measureExplaining({ width, height, rounds, methods }: ExplainingOptions): Promise<Explaining> {
  const client = await load('/model/', { handler: 'image_classifier', ...OPTIONS });
  const photo = await makePhoto(width, height);
  const explaining: Explaining = { inference: [], methods: {} };
  let inference = 0;
  client.on('response', ({ timings }) => (inference = timings.inference ?? 0));
  for (let round = 0; round < rounds; round++) {
    for (let request = 0; request < 5; request++) {
      await client.predict(photo);
      explaining.inference.push(inference);
    }
    for (const [name, options] of Object.entries(methods)) {
      const result = (explaining.methods[name] ??= { elapsed: [], variants: 0 });
      const started = performance.now();
      await client.explain(photo, { ...options, onProgress: ({ total }) => void (result.variants = total) });
      result.elapsed.push(performance.now() - started);
    }
  }
  await client.dispose();
  return explaining;
}

const handlers = { measureReading, measureExplaining };
export type Handlers = typeof handlers;

Object.assign(globalThis, { handlers });
