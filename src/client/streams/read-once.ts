import { TabServeError } from '../../contract/errors.js';

/**
 * Returns an iterable that can be read once: two loops over one stream would each miss what the other reads.
 * @throws `invalid-input`, from the second `for await`
 */
export function readOnce<T>(read: () => AsyncIterator<T, undefined>): AsyncIterable<T> {
  let isRead = false;
  return {
    [Symbol.asyncIterator]() {
      if (isRead)
        throw new TabServeError(
          'invalid-input',
          'This stream is being read, or was read before. Ask the client for another one.',
        );
      isRead = true;
      return read();
    },
  };
}
