import type { Endpoint } from 'comlink';
import type { Envelope, HandleAnswer } from '../../contract/wire.js';
import { errorToData } from '../../contract/error-data.js';
import { messageOf, PredictionError } from '../../contract/errors.js';

/** A port, or the object on which a worker receives the page's messages. */
type Channel = Pick<Worker, 'addEventListener' | 'removeEventListener' | 'postMessage'> & { start?(): void };

/**
 * Wraps a port for comlink so that sending an answer does not fail: a row that cannot be cloned (a function, a
 * session), or whose sequence's state cannot, is replaced by an error, and the other rows are sent. Rows are cloned to
 * find it only if sending fails.
 */
export function cloneSafe(port: Channel): Endpoint {
  const postMessage = (message: unknown, transferables: Transferable[] = []): void => {
    try {
      port.postMessage(message, transferables);
    } catch (error) {
      const answer = (message as { value?: Envelope<Partial<HandleAnswer>> }).value;
      if (!answer?.ok || !Array.isArray(answer.value.rows)) throw error;
      port.postMessage({ ...(message as object), value: cloneable(answer.value as HandleAnswer, error) });
    }
  };
  return {
    postMessage,
    addEventListener: port.addEventListener.bind(port),
    removeEventListener: port.removeEventListener.bind(port),
    start: () => port.start?.(),
  };
}

/** Returns an answer without what cannot be cloned. */
function cloneable(answer: HandleAnswer, cause: unknown): Envelope<HandleAnswer> {
  const { rows, states } = answer;
  const fits = rows.map((row, index) => isCloneable(row) && isCloneable(states?.[index]));
  const value = {
    ...answer,
    rows: rows.map((row, index) =>
      fits[index] ? row : { ok: false as const, error: errorToData(notCloneable(cause)) },
    ),
    ...(states && { states: states.map((state, index) => (fits[index] ? state : undefined)) }),
  };
  return { ok: true, value };
}

function isCloneable(value: unknown): boolean {
  try {
    structuredClone(value);
    return true;
  } catch {
    return false;
  }
}

/** Returns the failure of a row whose result, or a part of it, cannot be cloned. */
export function notCloneable(
  cause: unknown,
  what = "The handler's result, or the state that it set,",
): PredictionError {
  return new PredictionError('not-cloneable', `${what} cannot be sent to the page: ${messageOf(cause)}`, {
    cause,
    stage: 'postprocess',
  });
}
