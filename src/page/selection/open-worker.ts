/** What a page loads when the first model is opened. */
import { POWER_PREFERENCES } from '../../contract/backends.js';
import type { Precision } from '../../contract/precisions.js';
import { CLIENT_SETTINGS, resolveSettings } from '../../contract/settings.js';
import { wrongValue } from '../../shared/read-options.js';
import { configOf, type OpenerOptions } from '../options/client-options.js';
import { readDownloadSettings } from '../options/download-settings.js';
import { readLocation } from '../options/model-location.js';
import { readRemote } from '../options/remote-options.js';
import { absoluteUrl, folderUrl, oneOf, readMapping } from '../options/values.js';
import type { OpenedWorker } from '../workers/slot.js';
import type { PrestartedWorker } from '../workers/worker-factory.js';
import { openModel, type Choice, type ModelOptions } from './open.js';
import { CompiledFiles } from './opening-workers.js';
import { browserVerdicts } from './verdicts.js';
import type { OpenRequest, WorkerOpener } from './worker-opener.js';

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
  const compiled = (opener.compiled ??= new CompiledFiles());
  const choice = readChoice(opener.options);
  return await openModel({ opener, compiled, choice, model: readModel(opener.options), request, prestarted });
}

/** Reads the options on the model. @throws `model-config` */
export function readModel(options: OpenerOptions): ModelOptions {
  const { model, handler, assets, powerPreference } = options;
  const { server, config } = readRemote(options, configOf(options));
  const { source, dtype } = readLocation(model);
  return {
    source,
    handler,
    config: dtype === undefined ? config : { ...config, engine: { dtype: dtype as Precision, ...config.engine } },
    remote: server,
    powerPreference:
      powerPreference === undefined ? undefined : oneOf('powerPreference', POWER_PREFERENCES, powerPreference),
    assets: assets === undefined ? undefined : folderUrl(absoluteUrl(assets, 'assets')),
    download: { ...readDownloadSettings(options), visit: Date.now() },
  };
}

const PREFERENCES = ['first', 'fastest'] as const;
const VERIFICATIONS = ['golden', 'reference'] as const;

/**
 * Reads the options on how a backend is chosen, and checks that the config has keys.
 * @throws `model-config` naming the option, what it may be, and what it is
 */
export function readChoice(options: OpenerOptions): Choice {
  const { backends, prefer = 'first', verify = 'golden', config = {}, verdicts = browserVerdicts } = options;
  readMapping(config, 'config', "model-config.yaml's keys to values");
  if (backends !== undefined && !(Array.isArray(backends) && backends.length > 0))
    throw wrongValue(
      'backends',
      "a list of at least one backend, such as ['webgpu', 'wasm']",
      backends,
      'model-config',
    );
  return {
    backends,
    prefer: oneOf('prefer', PREFERENCES, prefer),
    verify: oneOf('verify', VERIFICATIONS, verify),
    measureBudget: resolveSettings(CLIENT_SETTINGS, { ...options }).measureBudget,
    verdicts,
  };
}
