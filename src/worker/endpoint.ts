import type { Endpoint } from 'comlink';
import type { Envelope, HandleAnswer } from '../contract/wire.js';
import { errorToData } from '../contract/error-data.js';
import { messageOf, PredictionError } from '../contract/errors.js';
import { AnswerGroups } from './answer-groups.js';

/** A port, or what a worker hears the page with. */
type Channel = Pick<Worker, 'addEventListener' | 'removeEventListener' | 'postMessage'> & { start?(): void };

/**
 * Wraps the port of a built-in handler for comlink: as `cloneSafe`, and the answers to quick batches go together.
 */
export function groupedAnswers(port: Channel): Endpoint {
  const alone = cloneSafe(port);
  const groups = new AnswerGroups(
    (message, transferables) => port.postMessage(message, transferables),
    (message, transferables) => alone.postMessage(message, transferables),
  );
  // Before comlink, which adds its listener later.
  port.addEventListener('message', ({ data }: MessageEvent) => groups.received(data));
  return { ...alone, postMessage: (message, transferables = []) => groups.send(message, transferables) };
}

/**
 * Wraps a port for comlink so that sending an answer does not fail: a row that cannot be cloned (a function, a session), or whose sequence's state cannot, is replaced by an
 * error, and the other rows are sent. Rows are cloned to find it only if sending fails.
 */
export function cloneSafe(port: Channel): Endpoint {
  const postMessage = (message: unknown, transferables: Transferable[] = []): void => {
    try {
      port.postMessage(message, transferables);
    } catch (error) {
      const answer = (message as { value?: Envelope<HandleAnswer> }).value;
      if (!answer?.ok || !Array.isArray(answer.value?.rows)) throw error;
      const { states } = answer.value;
      const fits = answer.value.rows.map((row, index) => isCloneable(row) && isCloneable(states?.[index]));
      const value = {
        ...answer.value,
        rows: answer.value.rows.map((row, index) =>
          fits[index] ? row : { ok: false, error: errorToData(notCloneable(error)) },
        ),
        ...(states && { states: states.map((state, index) => (fits[index] ? state : undefined)) }),
      };
      port.postMessage({ ...(message as object), value: { ok: true, value } });
    }
  };
  return {
    postMessage,
    addEventListener: port.addEventListener.bind(port),
    removeEventListener: port.removeEventListener.bind(port),
    start: () => port.start?.(),
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
export function notCloneable(
  cause: unknown,
  what = "The handler's result, or the state that it set,",
): PredictionError {
  return new PredictionError('not-cloneable', `${what} cannot be sent to the page: ${messageOf(cause)}`, {
    cause,
    stage: 'postprocess',
  });
}
