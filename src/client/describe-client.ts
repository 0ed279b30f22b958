import { servingOf } from '../contract/settings.js';
import type { ServingMetrics } from './metrics/client-metrics.js';
import type { Description } from './options.js';
import type { WorkerOpener } from './worker-opener.js';
import type { WorkerPool } from './workers/pool.js';

/** Returns the description of an initialized client. @throws what a worker's `describe` throws */
export async function describeClient(
  pool: WorkerPool,
  opener: WorkerOpener,
  metrics: ServingMetrics,
): Promise<Description> {
  const { session, ...info } = await pool.ask(({ describe }) => describe());
  const { manifest, config } = opener.archive!;
  const { modelName, modelVersion } = manifest.model;
  return {
    modelName,
    modelVersion,
    ...info,
    config: { ...config, ...servingOf(config) },
    backend: pool.backend!,
    workers: pool.workers,
    jobQueueStatus: pool.queueStatus,
    metrics: metrics.snapshot(),
    ...opener.sharing?.describe(session),
  };
}
