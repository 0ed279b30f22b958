import type { Context, Handler } from '../contract/handler.js';
import { STAGES, type Stage } from '../contract/stages.js';
import { asTabServeError, TabServeError } from '../contract/errors.js';
import { Recorder } from './recorder.js';

/**
 * Wraps the stages of one handler: each call is timed, and its error names the stage. Overridden stages are wrapped too; a `super` call
 * inside a stage is part of that stage and is not timed separately.
 */
export function instrument(handler: Handler, onStage: (context: Context | undefined) => void = () => {}): void {
  for (const stage of STAGES) {
    const run = handler[stage].bind(handler) as (...args: unknown[]) => unknown;
    const timed = async (...args: unknown[]): Promise<unknown> => {
      const context = args.at(-1) as Context | undefined;
      const started = performance.now();
      try {
        if (context?.signal?.aborted)
          throw new TabServeError('aborted', 'The request was aborted.', { cause: context.signal.reason });
        return await run(...args);
      } catch (error) {
        throw asTabServeError(error, stage);
      } finally {
        setStage(stage, context);
        record(stage, started, context);
        onStage(context);
      }
    };
    Object.defineProperty(handler, stage, { value: timed, configurable: true, writable: true });
  }
}

/** Sets the stage of the errors of rows that the stage failed. */
function setStage(stage: Stage, context: Context | undefined): void {
  const failures = context?.failures as Map<number, Error> | undefined;
  for (const [index, error] of failures ?? []) failures!.set(index, asTabServeError(error, stage));
}

function record(stage: Stage, started: number, context: Context | undefined): void {
  const ended = performance.now();
  // An app's handler may call a stage without its context: then there is nothing to record the time in.
  if (context?.metrics instanceof Recorder) context.metrics.ran(stage, ended - started);
  if (spans.push({ name: `tabserve ${stage}`, start: started, end: ended }) === 1) setTimeout(show);
}

/** Stages to show in DevTools. `performance.measure` costs more than the rest of this module, so it runs in a task of its own. */
const spans: { readonly name: string; readonly start: number; readonly end: number }[] = [];

function show(): void {
  for (const { name, start, end } of spans.splice(0)) {
    performance.measure(name, { start, end });
    // DevTools have shown the measure. The browser would keep it for ever.
    performance.clearMeasures(name);
  }
}
