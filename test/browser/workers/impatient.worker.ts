/** The built-in worker, for which the 30 seconds of a stalled connection are a moment. */
const { setTimeout } = globalThis;
globalThis.setTimeout = ((task: () => void, milliseconds?: number) =>
  setTimeout(task, milliseconds === 30_000 ? 300 : milliseconds)) as typeof globalThis.setTimeout;
await import('../../../src/worker/default.worker.ts');
