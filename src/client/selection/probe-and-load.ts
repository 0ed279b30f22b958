import type { Archive } from '../../contract/archive.js';
import type { CandidateName, Probe } from '../../contract/backends.js';
import type { Connection } from '../workers/connection.js';
import type { EarlyFiles } from './early-files.js';
import type { OpenOptions } from './open.js';
import { firstCandidates, needsGpus } from './starts.js';

/** The browser's capabilities, as the first worker of this page found them. They are the same for every client. */
let lastProbe: Probe | undefined;

/** Probes the browser and downloads the archive, at the same time. Starts the engine, as soon as it is certain which one is tried first. */
export async function probeAndLoad(
  worker: Connection,
  options: OpenOptions,
  early: EarlyFiles,
): Promise<{ archive: Archive; probe: Probe; built: readonly CandidateName[] }> {
  const { archive, only, backends, source, config, handler, download } = options;
  const since = performance.now();
  const gpus = needsGpus(backends, only);
  // After a loss the GPU may be another one, or none.
  const known = archive && !only ? undefined : lastProbe;
  const probing = worker.call(({ probe }) => probe(known, gpus));
  const preparing = Promise.all([probing, early.formats]).then(
    ([found, formats]) => !archive && prepareEngine(worker, options, found, formats),
  );
  // Without GPUs to look for, the worker answers at once, and its engine, which takes longest, starts first.
  if (!gpus) await preparing;
  const load = async (): Promise<Archive> => {
    const files = await early.files;
    return await worker.call(({ load }) => load({ source, config, handler, download, early: files }));
  };
  const loading = archive ?? load();
  const [{ probe, built }, loaded] = await Promise.all([probing, loading, preparing]);
  if (gpus) lastProbe = probe;
  options.onArchive(loaded);
  options.onProbe(probe);
  options.log(
    `The browser was probed${known ? ' before' : ''}${archive ? '; the archive was downloaded before' : `, and ${loaded.url} loaded`}.`,
    since,
  );
  return { archive: loaded, probe, built };
}

/** Lets a worker that is reading the archive start the engine of the first candidate. Cached verdicts may change the order, so where they matter, nothing is certain. */
function prepareEngine(
  worker: Connection,
  options: OpenOptions,
  found: { readonly probe: Probe; readonly built: readonly CandidateName[] },
  formats: string | undefined,
): void {
  const { backends: named, demoted, first, prefer, source, assets, remote, download, compiled } = options;
  if (prefer === 'fastest') return;
  const choice = { ...found, named, hasServer: remote !== undefined, demoted, first };
  const possible = Object.entries(firstCandidates(choice, source));
  const certain = possible.filter(([one]) => one === formats);
  const starts = (certain.length > 0 ? certain : possible).map(([formats, candidate]) => {
    return [formats, { candidate, assets, remote, download, compiled: compiled.find(candidate) }] as const;
  });
  worker.tell(({ prepare }) => prepare(Object.fromEntries(starts)));
}
