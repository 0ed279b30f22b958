import type { ErrorCode } from '../../contract/errors.js';
import { TabServeError } from '../../contract/errors.js';

/**
 * What is wrong with a message of the protocol. `asError` makes it an error of the side that reads or writes the
 * message.
 */
export class Fault extends Error {}

/**
 * Runs the coding of one message.
 * @param what names the message, e.g. `The request`
 * @throws `code`, naming the message and what is wrong with it
 */
export function withFaults<T>(code: ErrorCode, what: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (!(cause instanceof Fault)) throw cause;
    throw new TabServeError(code, `${what}: ${cause.message}.`, { cause: cause.cause });
  }
}
