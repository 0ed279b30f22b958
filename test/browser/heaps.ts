import type { Page } from '@playwright/test';

/** Bytes of JavaScript in use after a garbage collection, those of its buffers included. */
export interface Heaps {
  readonly page: number;
  /** Of all workers of the page. */
  readonly workers: number;
}

/**
 * Makes something that collects all garbage of a page and its workers, and tells what is left. Call it before the
 * workers start.
 */
export async function watchHeaps(page: Page): Promise<() => Promise<Heaps>> {
  const devtools = await page.context().newCDPSession(page);
  const workers = new Set<string>();
  const answers = new Map<number, (result: unknown) => void>();
  let calls = 0;
  devtools.on('Target.attachedToTarget', ({ sessionId }) => workers.add(sessionId));
  devtools.on('Target.detachedFromTarget', ({ sessionId }) => workers.delete(sessionId));
  devtools.on('Target.receivedMessageFromTarget', ({ message }) => {
    const { id, result } = JSON.parse(message) as { id: number; result: unknown };
    answers.get(id)?.(result);
    answers.delete(id);
  });
  // Playwright has no DevTools session for a worker: messages go through the page's.
  await devtools.send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: false, flatten: false });

  type Send = (method: 'HeapProfiler.collectGarbage' | 'Runtime.getHeapUsage') => Promise<unknown>;
  const inWorker =
    (sessionId: string): Send =>
    async (method) => {
      const id = ++calls;
      const answer = new Promise((resolve) => answers.set(id, resolve));
      await devtools.send('Target.sendMessageToTarget', { sessionId, message: JSON.stringify({ id, method }) });
      return await answer;
    };
  const used = async (send: Send): Promise<number> => {
    // What a finaliser lets go is collected by the next.
    for (let round = 0; round < 3; round++) await send('HeapProfiler.collectGarbage');
    const { usedSize, backingStorageSize } = (await send('Runtime.getHeapUsage')) as {
      usedSize: number;
      backingStorageSize: number;
    };
    return usedSize + backingStorageSize;
  };
  return async () => {
    const inWorkers = await Promise.all([...workers].map((id) => used(inWorker(id))));
    return {
      page: await used((method) => devtools.send(method)),
      workers: inWorkers.reduce((sum, bytes) => sum + bytes, 0),
    };
  };
}
