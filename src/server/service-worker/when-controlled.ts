import { TabServeError } from '../../contract/errors.js';
import { checkTimeout, withinLimit } from '../../shared/limit.js';
import { readCallOptions } from '../../shared/read-options.js';
import type { Claim } from './protocol.js';

/** Options of `whenControlled`. */
export interface ControlOptions {
  readonly signal?: AbortSignal;
  /**
   * The maximum number of milliseconds to wait. A first visit downloads the service worker, and the files that it caches for offline
   * use.
   * @default 30_000
   */
  readonly timeout?: number;
}

/**
 * Waits until a service worker controls this page. On a first visit and after a hard reload none does, and requests,
 * even to models that are `device-only`, go to the network: wait for this before the first request that must not. It
 * asks the active service worker, which must have called `answerPredictions`, to claim its pages.
 *
 * @throws `unsupported` where there are no service workers; `timeout`, for example if none was registered; `aborted`;
 *   `invalid-input` for a wrong option, and for one that does not exist
 */
export async function whenControlled(options: ControlOptions = {}): Promise<void> {
  const { signal, timeout = 30_000 } = readCallOptions(options, 'whenControlled', ['signal', 'timeout']);
  checkTimeout(timeout);
  const container = globalThis.navigator?.serviceWorker;
  if (!container)
    throw new TabServeError(
      'unsupported',
      'This page has no service workers. They need a secure context (https: or localhost), and private windows of some browsers have none.',
    );
  const listening = new AbortController();
  const controlled = async (): Promise<void> => {
    const { active } = await container.ready;
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (container.controller) resolve();
      };
      container.addEventListener('controllerchange', look, { signal: listening.signal });
      look();
      if (!container.controller) active?.postMessage({ tabserve: 'claim' } satisfies Claim);
    });
  };
  try {
    if (!container.controller) await withinLimit('The service worker', controlled, { milliseconds: timeout, signal });
  } finally {
    listening.abort();
  }
}
