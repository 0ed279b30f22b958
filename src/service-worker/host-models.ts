import { describeValue } from '../contract/describe-value.js';
import { TabServeError } from '../contract/errors.js';
import { browserClock } from '../shared/clock.js';
import { Hosting, type ModelHttpServer, type PageEnvironment } from './hosting.js';

/** A page that hosts models. */
export interface ModelHost {
  /** Resolves as soon as the service worker finds this page. @throws `disposed` if hosting ends before */
  readonly ready: Promise<void>;
  /** Ends hosting. What is being answered goes to another page, or to the server. */
  dispose(): void;
}

let current: ModelHost | undefined;

/**
 * Has this page answer the requests that the service worker (`answerPredictions`) relays, for as long as it lives or until `dispose`. Hosting begins when a service
 * worker is active for this page; it pauses while the page is frozen or in the back/forward cache.
 *
 * @param server answers the requests: a `ModelServer`
 * @throws `unsupported` where there are no service workers, `invalid-input` if this page hosts already, and for what is no server
 */
export function hostModels(server: ModelHttpServer): ModelHost {
  if (typeof server?.fetch !== 'function')
    throw new TabServeError('invalid-input', `hostModels: expected a ModelServer, got ${describeValue(server)}.`);
  const { serviceWorker, locks } = globalThis.navigator ?? {};
  if (!serviceWorker || !locks)
    throw new TabServeError(
      'unsupported',
      'This page cannot host models: it has no service workers. They need a secure context (https: or localhost), and private windows of some browsers have none. Requests go to the server.',
    );
  if (current)
    throw new TabServeError(
      'invalid-input',
      'This page hosts models already. Register all of them with one ModelServer, or dispose the other host first.',
    );
  const environment: PageEnvironment = { serviceWorker, locks, page: globalThis, clock: browserClock };
  const hosting = new Hosting(server, environment);
  current = {
    ready: hosting.ready,
    dispose() {
      hosting.dispose();
      if (current === this) current = undefined;
    },
  };
  return current;
}
