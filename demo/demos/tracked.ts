import { load, type CandidateName, type Client } from '../../src/index.js';
import type { Model } from '../demo.js';

/** The detector of the page as a node of a workflow, whose answers have ids. */
const TRACKER = 'models/tracker/';

/**
 * Adds the frames of a camera to a detector: they are requests of one sequence, so that each object keeps its id. The
 * workflow is opened with the first frame, on the detector's backend; its files are in the cache then.
 */
export function withIds(detector: Client): Model {
  const listeners: ((to: Model) => void)[] = [];
  const { signal, abort } = abortable();
  let opened: Promise<Client> | undefined;
  const open = async (): Promise<Client> => {
    const { engine, name } = detector.backend!;
    const candidate = `${engine}/${name}` as CandidateName;
    const tracker = await load(TRACKER, { handler: 'object_tracker', backends: [candidate], signal });
    for (const listen of listeners) listen(tracker);
    return tracker;
  };
  return {
    get backend() {
      return detector.backend;
    },
    predict: (input, options) => detector.predict(input, options),
    async *frames(video, { params: { scoreThreshold, ...params }, signal: stop }) {
      await using sequence = (await (opened ??= open())).openSequence();
      yield* sequence.frames(video, { params: { ...params, trackThreshold: scoreThreshold }, signal: stop });
    },
    on(event, listener) {
      const stops: (() => void)[] = [detector.on(event, listener)];
      listeners.push((to) => stops.push(to.on(event, listener)));
      return () => stops.forEach((stop) => stop());
    },
    async dispose() {
      abort();
      await Promise.all([detector.dispose(), opened?.then((tracker) => tracker.dispose()).catch(() => {})]);
    },
  };
}

function abortable(): { readonly signal: AbortSignal; readonly abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
