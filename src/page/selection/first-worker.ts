/** What an opening's first worker does before a candidate is chosen. */
import type { Archive } from '../../contract/archive.js';
import type { CandidateName, PowerPreference, Probe } from '../../contract/backends.js';
import type { Connection } from '../workers/connection.js';
import type { Opening } from './open.js';
import { firstCandidates, needsGpus } from './order.js';
import { isReadable } from './readable.js';

/**
 * The browser's capabilities, as the first worker of this page found them. They are the same for every client that asks
 * for the same GPU.
 */
const lastProbes = new Map<PowerPreference | undefined, Probe | undefined>();

/**
 * Probes the browser and downloads the archive, at the same time. Starts the engine, as soon as it is certain which one
 * is tried first.
 */
export async function probeAndLoad(
  worker: Connection,
  opening: Opening,
): Promise<{ archive: Archive; probe: Probe; built: readonly CandidateName[] }> {
  const { opener, model, choice, request } = opening;
  const { source, config, handler, powerPreference, download } = model;
  const { only } = request;
  const since = performance.now();
  const gpus = needsGpus(choice.backends, only);
  // After a loss there may be another GPU, or none, and later the same one again.
  const isLost = opener.archive !== undefined && only === undefined;
  // What was picked cannot be downloaded: the worker says that it must be picked again.
  if (opener.archive && typeof source === 'string' && !(await isReadable(opener.archive))) {
    opener.archive = undefined;
    opener.events.log("The archive's files are gone with the site's data, and are downloaded again.");
  }
  const { archive } = opener;
  const known = isLost ? undefined : lastProbes.get(powerPreference);
  const probing = worker.call(({ probe }) => probe(known, gpus, powerPreference));
  const loading = archive ?? worker.call(({ load }) => load({ source, config, handler, download }));
  const preparing = probing.then((found) => !archive && prepareEngine(worker, opening, found));
  const [{ probe, built }, loaded] = await Promise.all([probing, loading, preparing]);
  if (gpus) lastProbes.set(powerPreference, isLost ? undefined : probe);
  opener.archive = loaded;
  opener.probe = probe;
  opener.events.log(
    `The browser was probed${known ? ' before' : ''}${archive ? '; the archive was downloaded before' : `, and ${loaded.url} loaded`}.`,
    since,
  );
  return { archive: loaded, probe, built };
}

/**
 * Lets a worker that is reading the archive start the engine of the first candidate. Cached verdicts may change the
 * order, so where they matter, the first candidate is not certain.
 */
function prepareEngine(
  worker: Connection,
  { compiled, model, choice, request }: Opening,
  found: { readonly probe: Probe; readonly built: readonly CandidateName[] },
): void {
  if (choice.prefer === 'fastest') return;
  const { source, assets, remote, powerPreference, download } = model;
  const { demoted, first } = request;
  const plan = { ...found, named: choice.backends, hasServer: remote !== undefined, demoted, first };
  const requests = Object.entries(firstCandidates(plan, source)).map(([formats, candidate]) => {
    const start = { candidate, assets, remote, powerPreference, download, compiled: compiled.find(candidate) };
    return [formats, start] as const;
  });
  worker.tell(({ prepare }) => prepare(Object.fromEntries(requests)));
}
