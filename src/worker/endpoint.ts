import type { Endpoint } from 'comlink';
import type { Envelope, HandleAnswer } from '../contract/wire.js';
import { errorToData } from '../contract/error-data.js';
import { PredictionError } from '../contract/errors.js';

/**
 * Wraps a port for comlink so that sending an answer does not fail: a row that cannot be cloned (a function, a session) is replaced by an
 * error, and the other rows are sent. Rows are cloned to find it only if sending fails.
 */
export function cloneSafe(port: MessagePort): Endpoint {
  return {
    postMessage(message: unknown, transferables: Transferable[] = []) {
      try {
        port.postMessage(message, transferables);
      } catch (error) {
        const answer = (message as { value?: Envelope<HandleAnswer> }).value;
        if (!answer?.ok || !Array.isArray(answer.value?.rows)) throw error;
        const rows = answer.value.rows.map((row) =>
          isCloneable(row) ? row : { ok: false, error: errorToData(notCloneable(error)) },
        );
        port.postMessage({ ...(message as object), value: { ok: true, value: { ...answer.value, rows } } });
      }
    },
    addEventListener: port.addEventListener.bind(port),
    removeEventListener: port.removeEventListener.bind(port),
    start: port.start.bind(port),
  };
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
export function notCloneable(cause: unknown, what = "The handler's result"): PredictionError {
  return new PredictionError(
    'not-cloneable',
    `${what} cannot be sent to the page: ${cause instanceof Error ? cause.message : String(cause)}`,
    {
      cause,
      stage: 'postprocess',
    },
  );
}
