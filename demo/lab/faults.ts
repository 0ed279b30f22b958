/** A fault of a worker: it is terminated from outside, its GPU is lost, or its thread is blocked. */
export type Fault = 'end' | 'lose' | 'block';

/** Creates workers, and injects faults into the one that was created last. */
export interface FaultyWorkers {
  factory(): Worker;
  inject(fault: Fault): void;
}

export function faultyWorkers(): FaultyWorkers {
  let last: Worker | undefined;
  return {
    factory: () => (last = new Worker(new URL('./lossy.worker.ts', import.meta.url), { type: 'module' })),
    inject(fault) {
      if (fault === 'end') last?.terminate();
      else last?.postMessage({ fault });
    },
  };
}
