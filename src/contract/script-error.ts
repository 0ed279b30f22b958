import { messageOf, TabServeError } from './errors.js';

/** The remedy if the server no longer has a script of the app, or has another one. */
export const AFTER_DEPLOYMENT = 'If the app was deployed anew since this page was loaded, reload the page.';

/**
 * Returns the error for a lazy script that cannot be loaded.
 * @param what names it, at the start of a sentence
 * @param advice what else to do
 */
export function scriptError(what: string, cause: unknown, advice = ''): TabServeError {
  const why = messageOf(cause).replace(/\.$/, '');
  const message = `${what} could not be loaded: ${why}. ${AFTER_DEPLOYMENT} ${advice}`.trim();
  return new TabServeError('worker-failed', message, { cause });
}
