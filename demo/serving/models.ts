import { load, type Client } from '../../src/index.js';
import type { Demo, LoadOptions } from '../demo.js';
import { digits } from '../demos/digits.js';
import { language } from '../demos/language.js';
import { orientation } from '../demos/orientation.js';
import { fetchSample } from '../panels/samples.js';
import type { Settings } from './settings.js';

/** Small models, whose samples are the requests; the first one gains from batches. */
export const SERVED: readonly [Demo, ...Demo[]] = [language, orientation, digits];

/** The part of a client that the page uses. */
export type Served = Pick<
  Client,
  'backend' | 'metrics' | 'jobQueueStatus' | 'describe' | 'diagnose' | 'dispose' | 'on' | 'probe' | 'workerStatus'
> &
  Pick<Awaited<ReturnType<typeof load>>, 'predict'>;

/** One thread for each worker: more workers use more cores. */
const CONFIG = { engine: { threads: 1 } };

export function serve(
  { models: [{ url }] }: Demo,
  { batchSize, maxBatchDelay, maxWorkers, jobQueueSize }: Settings,
  options: LoadOptions,
): Promise<Served> {
  return load(url, { batchSize, maxBatchDelay, maxWorkers, jobQueueSize, config: CONFIG, ...options });
}

/** Returns the code that a developer writes. */
export function snippetOf(
  { id, models: [{ url }] }: Demo,
  { batchSize, maxBatchDelay, maxWorkers, jobQueueSize, deadline }: Settings,
): string {
  const settings = { batchSize, maxBatchDelay, maxWorkers, jobQueueSize };
  return [
    "import { load } from 'tabserve';",
    '',
    `const client = await load('/${url}', {`,
    ...Object.entries(settings).map(([key, value]) => `  ${key}: ${value},`),
    ...(maxWorkers > 1 ? ['  config: { engine: { threads: 1 } }, // more workers use more cores'] : []),
    '});',
    id === 'language'
      ? "const text = document.querySelector('textarea')!.value;"
      : `const image = document.querySelector<HTMLInputElement>('input[type="file"]')!.files![0]!;`,
    `await client.predict(${id === 'language' ? 'text' : 'image'}${deadline > 0 ? `, { timeout: ${deadline} }` : ''});`,
    'client.jobQueueStatus.pendingRequests;',
    'client.metrics.prometheus();',
    '',
  ].join('\n');
}

const inputs = new Map<Demo, readonly unknown[]>();

/** Loads the samples, each as an input of the handler. @throws if the server does not answer with them */
export async function inputsOf(demo: Demo): Promise<readonly unknown[]> {
  const known = inputs.get(demo);
  if (known) return known;
  const found = await Promise.all(
    demo.samples.map(async (sample) => {
      const blob = await fetchSample(sample);
      return sample.url.endsWith('.txt') ? await blob.text() : blob;
    }),
  );
  inputs.set(demo, found);
  return found;
}
