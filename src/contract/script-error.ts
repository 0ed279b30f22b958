import { messageOf, TabServeError } from './errors.js';

/** What to do if a script of the app is not on the server any more, or is another one there. */
export const AFTER_DEPLOYMENT = 'If the app was deployed anew since this page was loaded, reload the page.';

/**
 * Returns the error for a script that is loaded when it is needed, and cannot be.
 * @param what names it, at the start of a sentence
 * @param advice what else to do
 */
export function scriptError(what: string, cause: unknown, advice = ''): TabServeError {
  const why = messageOf(cause).replace(/\.$/, '');
  const message = `${what} could not be loaded: ${why}. ${AFTER_DEPLOYMENT} ${advice}`.trim();
  return new TabServeError('worker-failed', message, { cause });
}
