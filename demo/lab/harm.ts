/** What can be done to a worker that segments: ended from outside, its GPU lost, its thread blocked. */
export type Harm = 'end' | 'lose' | 'block';

/** Makes workers, and does harm to the one that was made last. */
export interface Victims {
  factory(): Worker;
  harm(how: Harm): void;
}

export function victims(): Victims {
  let last: Worker | undefined;
  return {
    factory: () => (last = new Worker(new URL('./lossy.worker.ts', import.meta.url), { type: 'module' })),
    harm(how) {
      if (how === 'end') last?.terminate();
      else last?.postMessage({ harm: how });
    },
  };
}
