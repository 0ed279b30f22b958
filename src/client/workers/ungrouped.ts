import type { Endpoint } from 'comlink';
import type { GroupedAnswers } from '../../contract/wire.js';

/** Wraps a worker's port, or a worker, for comlink, which gets each answer as a message of its own, even if the worker has sent several in one. */
export function ungrouped(port: MessagePort | Worker): Endpoint {
  return {
    postMessage: port.postMessage.bind(port),
    addEventListener(type, listener) {
      port.addEventListener(type, (event) => {
        const { data } = event as MessageEvent<Partial<GroupedAnswers> | undefined>;
        const answers = data?.type === 'answers' && Array.isArray(data.answers) ? data.answers : [data];
        for (const answer of answers) (listener as (event: unknown) => void)({ data: answer });
      });
    },
    // comlink's page side adds one listener, and keeps it.
    removeEventListener() {},
    start: () => (port as Partial<MessagePort>).start?.(),
  };
}
