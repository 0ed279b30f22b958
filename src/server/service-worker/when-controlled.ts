import { TabServeError } from '../../contract/errors.js';
import { browserClock } from '../../shared/clock.js';
import { checkTimeout, withinLimit } from '../../shared/limit.js';
import { readCallOptions } from '../../shared/read-options.js';
import { DeviceOnlyGuard } from './device-only-guard.js';

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

let guard: DeviceOnlyGuard | undefined;

/**
 * Waits until a service worker controls this page and has said its policies. On a first visit and after a hard reload
 * none does, and requests, even to models that are `device-only`, go to the network: wait for this before the first
 * request that must not. It asks the active service worker, which must have called `answerPredictions`, to claim its
 * pages.
 *
 * From then on, this page's `fetch` hands requests to `device-only` models to the service worker by message, so that
 * they cannot reach the network: where no service worker answers, it rejects with `worker-lost`.
 *
 * @throws `unsupported` where there are no service workers; `timeout`, for example if none was registered; `aborted`;
 *   `invalid-input` for a wrong option, and for one that does not exist
 */
export async function whenControlled(options: ControlOptions = {}): Promise<void> {
  const { signal, timeout = 30_000 } = readCallOptions(options, 'whenControlled', ['signal', 'timeout']);
  checkTimeout(timeout);
  const serviceWorker = globalThis.navigator?.serviceWorker;
  if (!serviceWorker)
    throw new TabServeError(
      'unsupported',
      'This page has no service workers. They need a secure context (https: or localhost), and private windows of some browsers have none.',
    );
  guard ??= new DeviceOnlyGuard({ global: globalThis, serviceWorker, clock: browserClock });
  const listening = new AbortController();
  const controlled = async (): Promise<void> => {
    await serviceWorker.ready;
    const controls = new Promise<void>((resolve) => {
      const look = (): void => {
        if (serviceWorker.controller) resolve();
      };
      serviceWorker.addEventListener('controllerchange', look, { signal: listening.signal });
      look();
    });
    // A message to a service worker that is being replaced delays the next one, by ten seconds in Chromium.
    if (!serviceWorker.controller || !guard!.hasLearned) await guard!.learn();
    await Promise.all([guard!.learned, controls]);
  };
  try {
    await withinLimit('The service worker', controlled, { milliseconds: timeout, signal });
  } finally {
    listening.abort();
  }
}
