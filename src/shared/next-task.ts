import type { Context } from '../contract/handler.js';

/** What waits for its turn. */
const waiting: (() => void)[] = [];
let port: MessagePort | undefined;

/**
 * Waits until the messages that have arrived are handled, so that long work does not delay other requests, or an abort.
 * Unlike a timer, which browsers delay by 4 ms when one sets the next, it takes some microseconds.
 */
export function nextTask(): Promise<void> {
  // Under Node, which has no such delay, an open port would keep the process alive.
  const { setImmediate } = globalThis as { setImmediate?: (task: () => void) => void };
  if (setImmediate) return new Promise((resolve) => setImmediate(resolve));
  return new Promise((resolve) => {
    waiting.push(resolve);
    (port ??= openPort()).postMessage(undefined);
  });
}

/**
 * Interrupts long work of a batch: tells the page that it makes progress, and waits as `nextTask` does.
 * @throws the abort error, if nobody waits for the batch any more
 */
export async function pause({ heartbeat, signal }: Pick<Context, 'heartbeat' | 'signal'>): Promise<void> {
  heartbeat();
  await nextTask();
  signal.throwIfAborted();
}

function openPort(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  port1.addEventListener('message', () => waiting.shift()!());
  port1.start();
  return port2;
}
