import type { FormName } from '../../contract/handler-types.js';
import type { Assessment } from '../../contract/assessment.js';
import { loadScript } from '../../shared/load-script.js';
import { readOptions } from '../../shared/read-options.js';
import type { HandlerName, HandlerOf } from '../../worker/handlers/registry.js';
import { readClientOptions, type OpenerOptions } from '../options/client-options.js';
import type { ModelLocation } from '../options/model-location.js';
import { scriptLimit } from '../selection/worker-opener.js';
import { checkWorkers } from './check-workers.js';
import { defaultWorker, type LoadOptions } from './connect.js';

/** What `assess` takes in addition to the model: what `load` would get. */
export type AssessOptions<Name extends HandlerName, Form = never> = Omit<LoadOptions<Name, Form>, 'onProgress'>;

/**
 * Says what `load` would do with a model, and whether it will run well here, before a byte of the weights is
 * downloaded: the handler, the files by precision with their sizes, the memory that they need, what this device has,
 * and which backend and precision `load` would take, with the reason why each other is left out.
 *
 * ```ts
 * const { handler, backends } = await assess('hf:org/name');
 * const [best] = backends;
 * if (best && best.concerns.length === 0) console.log(`${best.bytes! / 1e6} MB for ${handler.name}`);
 * ```
 *
 * Only the list of the files, the config and the handler's script are downloaded; where the server does not list its
 * files, it is asked for the size of each. A packed archive is one file, which is downloaded as a whole.
 * @throws what `load` throws because of an option or of the archive, such as `model-not-found`; without a handler for
 *   the model it throws nothing: `handler.reason` says which to choose. `no-backend` is an empty list of `backends`
 */
export async function assess<Name extends HandlerName = HandlerName, Form extends FormName<HandlerOf<Name>> = never>(
  model: ModelLocation,
  options: AssessOptions<Name, Form> = {},
): Promise<Assessment> {
  checkWorkers(true);
  const { signal, ...rest } = readOptions(options, 'an object as options');
  const own = readClientOptions({ ...rest, model } as OpenerOptions);
  const script = async (): Promise<typeof import('../selection/assess.js').assessModel> =>
    (await import('../selection/assess.js')).assessModel;
  const assessModel = await loadScript(script, scriptLimit(own, signal ?? new AbortController().signal));
  return await assessModel(() => defaultWorker(own.assets), own, signal);
}
