import { withinLimit, type Limit } from '../../shared/limit.js';

/**
 * Yields the parts of an answer. The limit is for the first part, and then for each next one, from when it is wanted:
 * an answer that is still being written is never cut, however long it is. Whoever is late is asked to stop.
 * @throws `timeout`, and what the parts throw
 */
export async function* partsWithin(parts: AsyncIterable<unknown>, limit: Limit): AsyncGenerator<unknown> {
  const reader = parts[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await withinLimit('The model', () => reader.next(), limit);
      if (done) return;
      yield value;
    }
  } finally {
    // One that hangs may never answer.
    void reader.return?.();
  }
}
