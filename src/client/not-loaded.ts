import { messageOf, TabServeError } from '../contract/errors.js';

/** Returns the error for a lazy script of the page that did not load. */
export function notLoaded(cause: unknown): TabServeError {
  const why = messageOf(cause).replace(/\.$/, '');
  return new TabServeError(
    'worker-failed',
    `A script of TabServe could not be loaded: ${why}. If the app was deployed anew since this page was loaded, reload the page.`,
    { cause },
  );
}
