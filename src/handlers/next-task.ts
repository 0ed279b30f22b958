/** Waits until the worker has handled the messages that have arrived, so that long work does not hold up other requests. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
