import type { Context, Handler } from '../contract/handler.js';
import { STAGES, type Stage } from '../contract/stages.js';
import { asTabServeError } from '../contract/errors.js';
import { isPlain } from '../handlers/plain-inference.js';
import { abortError } from '../shared/abort.js';
import { addSpan } from '../shared/spans.js';
import { Recorder } from './recorder.js';

/** Instrumented handlers whose `inference` does nothing but run the model. */
const plain = new WeakSet<Handler>();

/** Returns whether the `inference` of an instrumented handler does nothing but run the model. */
export function onlyRunsModel(handler: Handler): boolean {
  return plain.has(handler);
}

/**
 * Wraps the stages of one handler: each call is timed, and its error names the stage. Overridden stages are wrapped too; a `super` call
 * inside a stage is part of that stage and is not timed separately.
 */
export function instrument(handler: Handler, onStage: (context: Context | undefined) => void = () => {}): void {
  if (isPlain(handler.inference)) plain.add(handler);
  for (const stage of STAGES) {
    const run = handler[stage].bind(handler) as (...args: unknown[]) => unknown;
    const timed = async (...args: unknown[]): Promise<unknown> => {
      const context = args.at(-1) as Context | undefined;
      const started = performance.now();
      try {
        if (context?.signal?.aborted) throw abortError(context.signal);
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
  addSpan(stage, started, ended);
}
