/** The stages of a handler, in the order in which they run. */
export const STAGES = ['initialize', 'preprocess', 'inference', 'postprocess'] as const;
/** A stage of a handler. Each stage is timed. */
export type Stage = (typeof STAGES)[number];

/** Milliseconds that a batch spent in each stage; a stage that did not run is missing. */
export type Timings = Readonly<Partial<Record<Stage, number>>>;
