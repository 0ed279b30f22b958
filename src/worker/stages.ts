import type { Context, Handler } from '../contract/handler.js';
import { STAGES, type Stage } from '../contract/stages.js';
import { asTabServeError, TabServeError } from '../contract/errors.js';
import { Recorder } from './recorder.js';

/**
 * Wraps the stages of one handler, so that each call is timed and its error names the stage. Overrides are wrapped as they are,
 * and a `super` call inside of one is a part of it: timed once.
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
        tellStage(stage, context);
        record(stage, started, context);
        onStage(context);
      }
    };
    Object.defineProperty(handler, stage, { value: timed, configurable: true, writable: true });
  }
}

/** A row that the stage has failed failed in it. */
function tellStage(stage: Stage, context: Context | undefined): void {
  const failures = context?.failures as Map<number, Error> | undefined;
  for (const [index, error] of failures ?? []) failures!.set(index, asTabServeError(error, stage));
}

function record(stage: Stage, started: number, context: Context | undefined): void {
  const ended = performance.now();
  // A handler of the user's may call a stage without its context: then nobody asked for the time.
  if (context?.metrics instanceof Recorder) context.metrics.ran(stage, ended - started);
  if (spans.push({ name: `tabserve ${stage}`, start: started, end: ended }) === 1) setTimeout(show);
}

/** Stages that DevTools do not know of yet: a measure costs more than all else here, so it has a task of its own. */
const spans: { readonly name: string; readonly start: number; readonly end: number }[] = [];

function show(): void {
  for (const { name, start, end } of spans.splice(0)) {
    performance.measure(name, { start, end });
    // DevTools have seen it; the browser would keep every one for ever.
    performance.clearMeasures(name);
  }
}
