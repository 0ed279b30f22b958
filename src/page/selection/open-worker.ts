/** What a page loads when the first model is opened. */
import type { Progress } from '../../contract/archive.js';
import type { Backend, Skipped } from '../../contract/backends.js';
import { CLIENT_SETTINGS, resolveSettings } from '../../contract/settings.js';
import { wrongValue } from '../../shared/read-options.js';
import { configOf, type ClientOptions } from '../options/client-options.js';
import { readDownloadSettings } from '../options/download-settings.js';
import { readLocation } from '../options/model-location.js';
import { readRemote } from '../options/remote-options.js';
import { absoluteUrl, folderUrl, oneOf, readMapping } from '../options/values.js';
import type { OpenedWorker } from '../workers/slot.js';
import type { PrestartedWorker } from '../workers/worker-factory.js';
import { openModel } from './open.js';
import { CompiledFiles } from './opening-workers.js';
import { browserVerdicts } from './verdicts.js';
import type { WorkerOpener } from './worker-opener.js';

/** Says which worker to open: the first one, one beside others, or one that replaces a lost one. */
export interface OpenRequest {
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly demoted?: readonly Skipped[];
  readonly only?: Backend;
  readonly first?: Backend;
}

/**
 * Reads the options of a client, and opens its model in a worker.
 * @param prestarted a worker that was made already
 * @throws `model-config` naming a wrong option; what `openModel` throws
 */
export async function openWorker(
  opener: WorkerOpener,
  request: OpenRequest,
  prestarted: PrestartedWorker | undefined,
): Promise<OpenedWorker> {
  const { factory, options, events } = opener;
  const { model, handler, assets, verdicts = browserVerdicts } = options;
  const choice = readChoice(options);
  const { measureBudget } = resolveSettings(CLIENT_SETTINGS, { ...options });
  const { server, config } = readRemote(options, configOf(options));
  return await openModel({
    factory,
    prestarted,
    source: readLocation(model),
    handler,
    ...choice,
    config,
    remote: server,
    assets: assets === undefined ? undefined : folderUrl(absoluteUrl(assets, 'assets')),
    download: { ...readDownloadSettings(options), visit: Date.now() },
    measureBudget,
    verdicts,
    archive: opener.archive,
    onArchive: (archive) => (opener.archive = archive),
    onProbe: (probe) => (opener.probe = probe),
    compiled: (opener.compiled ??= new CompiledFiles()),
    onProgress: undefined,
    log: events.log,
    warn: events.warn,
    ...request,
  });
}

const PREFERENCES = ['first', 'fastest'] as const;
const VERIFICATIONS = ['golden', 'reference'] as const;

type Choice = Required<Pick<ClientOptions, 'prefer' | 'verify'>> & { readonly backends: ClientOptions['backends'] };

/**
 * Reads the options on how a backend is chosen, and checks that the config has keys.
 * @throws `model-config` naming the option, what it may be, and what it is
 */
function readChoice({
  backends,
  prefer = 'first',
  verify = 'golden',
  config = {},
}: Pick<ClientOptions, 'backends' | 'prefer' | 'verify' | 'config'>): Choice {
  readMapping(config, 'config', "model-config.yaml's keys to values");
  if (backends !== undefined && !(Array.isArray(backends) && backends.length > 0))
    throw wrongValue(
      'backends',
      "a list of at least one backend, such as ['webgpu', 'wasm']",
      backends,
      'model-config',
    );
  return { backends, prefer: oneOf('prefer', PREFERENCES, prefer), verify: oneOf('verify', VERIFICATIONS, verify) };
}
