import { TabServeError, type Context } from '../../../src/worker.ts';
import { lose } from '../../../demo/lab/gpu.ts';

/** What goes wrong, in which stage, in how many workers. */
export interface Fault {
  readonly id: string;
  readonly stage: 'preprocess' | 'inference' | 'postprocess';
  readonly kind: 'close' | 'crash' | 'block' | 'stall' | 'lose' | 'memory' | 'throw';
  readonly times: number;
}

/**
 * How often each fault has happened, in whichever worker. Counted where it outlives them all and no message can be
 * lost.
 */
let counts: Promise<IDBDatabase> | undefined;

function openCounts(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open('faults', 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore('counts');
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error);
  });
}

/** Whether this fault is still to happen; counts it before it does. */
async function isDue({ id, times }: Fault): Promise<boolean> {
  const transaction = (await (counts ??= openCounts())).transaction('counts', 'readwrite');
  const store = transaction.objectStore('counts');
  const count: IDBRequest<number | undefined> = store.get(id);
  count.onsuccess = () => store.put((count.result ?? 0) + 1, id);
  await new Promise<unknown>((resolve, reject) => {
    transaction.oncomplete = resolve;
    transaction.onabort = () => reject(transaction.error);
  });
  return (count.result ?? 0) < times;
}

const never = new Promise<never>(() => {});

/** Does what the `params.fault` of a row of the batch asks for, if it asks for it in this stage. */
export async function happen(stage: Fault['stage'], context: Context): Promise<void> {
  for (const params of new Set(context.params)) {
    const fault = params['fault'] as Fault | undefined;
    if (fault?.stage !== stage || !(await isDue(fault))) continue;
    switch (fault.kind) {
      case 'close':
        self.close();
        return await never;
      case 'crash':
        setTimeout(() => {
          throw new Error('crashed outside of any call');
        });
        return await never;
      case 'block':
        for (;;);
      case 'stall':
        return await never;
      case 'lose':
        return lose();
      case 'memory':
        throw new TabServeError('out-of-memory', 'no memory is left');
      case 'throw':
        throw new RangeError('this request is bad');
    }
  }
}
