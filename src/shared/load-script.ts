import { isError, TabServeError } from '../contract/errors.js';
import { scriptError } from '../contract/script-error.js';
import { MAX_DELAY_MS } from '../contract/settings.js';
import { withinLimit } from './limit.js';

export interface ScriptLimit {
  /** @default no limit */
  readonly seconds?: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Imports a lazy script.
 * @param script imports it, and returns what is needed of it: undefined if it is of another version, which has no
 *   such export
 * @throws `worker-failed` if it does not load within the limit, or is of another version; `aborted`
 */
export async function loadScript<T>(
  script: () => Promise<T>,
  { seconds = MAX_DELAY_MS / 1000, signal }: ScriptLimit = {},
): Promise<T> {
  try {
    const loaded = await withinLimit('Its server', script, { milliseconds: seconds * 1000, signal });
    if (loaded === undefined) throw new Error('it is of another version');
    return loaded;
  } catch (cause) {
    // The script may load that of a library, whose error says more.
    const isKnown = isError(cause) && cause instanceof TabServeError && cause.code === 'worker-failed';
    throw signal?.aborted || isKnown ? cause : scriptError('A script of TabServe', cause);
  }
}
