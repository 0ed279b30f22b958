import type {
  LabelOptions,
  MetricOptions,
  Metrics,
  Observation,
  SizeOptions,
  TimeOptions,
} from '../../contract/metrics.js';
import { type Stage, STAGES, type Timings } from '../../contract/stages.js';
import { asTabServeError, TabServeError } from '../../contract/errors.js';
import { BUILT_IN } from '../../shared/metrics/built-in.js';
import { Definitions } from '../../shared/metrics/definitions.js';
import type { Context, Handler } from '../../contract/handler.js';
import { wrapMethod } from '../handlers/handler-contract.js';
import { abortError } from '../../shared/abort.js';
import { addSpan } from '../../shared/spans.js';

const TIME_UNITS = ['ms', 's'] as const;
const SIZE_UNITS = ['B', 'kB', 'MB', 'GB'] as const;

/** Records a handler's observations in one batch as data. */
export class Recorder implements Metrics {
  /** The observations, in the order in which they were recorded. */
  readonly observations: Observation[];
  /** Milliseconds that the batch spent in each stage. */
  readonly timings: Partial<Record<Stage, number>> = {};
  /** The same times for the nodes of a workflow, by their paths. */
  readonly nodes: Record<string, Timings> = {};
  /** The recorder of the batch that the page has sent: this one, unless this one is for a node. */
  readonly batch: Recorder;
  /** The last heartbeat of the batch that the page has sent; undefined for a run that it has not asked for. */
  heartbeat: { readonly id: string; sentAt: number } | undefined;
  /** The node's path; undefined for the workflow itself. */
  readonly #node: string | undefined;
  readonly #definitions: Definitions;

  /**
   * @param definitions the definitions of the handler's metrics, which all of its batches share
   * @param earlier observations from before the batch
   * @param of the node that this is for: its path, and the recorder of its workflow
   */
  constructor(
    definitions = new Definitions(),
    earlier: readonly Observation[] = [],
    of?: { readonly node: string; readonly workflow: Recorder },
  ) {
    this.#definitions = definitions;
    this.observations = [...earlier];
    this.#node = of?.node;
    this.batch = of?.workflow.batch ?? this;
  }

  /** Returns a recorder for a batch of a node. What it records has the label `node`. */
  forNode(name: string): Recorder {
    const node = this.#node === undefined ? name : `${this.#node}/${name}`;
    return new Recorder(this.#definitions, [], { node, workflow: this });
  }

  /** Adds what the recorder of a node has recorded. */
  add(recorder: Recorder): void {
    this.observations.push(...recorder.observations);
    for (const [node, timings] of [[recorder.#node!, recorder.timings] as const, ...Object.entries(recorder.nodes)]) {
      const sums: Record<string, number> = { ...this.nodes[node] };
      for (const [stage, took] of Object.entries(timings)) sums[stage] = (sums[stage] ?? 0) + took;
      this.nodes[node] = sums;
    }
  }

  addCounter(name: string, value = 1, { labels }: LabelOptions = {}): void {
    this.#record({ name, type: 'counter', unit: 'count', value, labels });
  }

  addTime(name: string, value: number, { unit = 'ms', labels }: TimeOptions = {}): void {
    this.#record({ name, type: 'histogram', unit: oneOf(TIME_UNITS, unit, name), value, labels });
  }

  addSize(name: string, value: number, { unit = 'MB', labels }: SizeOptions = {}): void {
    this.#record({ name, type: 'histogram', unit: oneOf(SIZE_UNITS, unit, name), value, labels });
  }

  addPercent(name: string, value: number, { labels }: LabelOptions = {}): void {
    this.#record({ name, type: 'histogram', unit: 'percent', value, labels });
  }

  addError(name: string, message: string, { labels }: LabelOptions = {}): void {
    this.#record({
      name,
      type: 'counter',
      unit: 'count',
      value: 1,
      labels: { ...labels, Level: 'Error', error: message },
    });
  }

  addMetric(name: string, value: number, { unit, type = 'counter', labels }: MetricOptions = {} as never): void {
    this.#record({ name, type, unit, value, labels });
  }

  /** Adds the time of a stage that has run. */
  ran(stage: Stage, milliseconds: number): void {
    this.timings[stage] = (this.timings[stage] ?? 0) + milliseconds;
  }

  #record({
    labels,
    ...rest
  }: Omit<Observation, 'labels'> & { readonly labels: Observation['labels'] | undefined }): void {
    if (Object.hasOwn(BUILT_IN, rest.name))
      throw new TabServeError(
        'invalid-input',
        `Metric "${rest.name}": TabServe records a metric of this name by itself. Use another name.`,
      );
    // Copy the labels: the caller may change them later.
    const own = this.#node === undefined ? labels && { ...labels } : { ...labels, node: this.#node };
    const observation = own ? { ...rest, labels: own } : rest;
    this.#definitions.accept(observation);
    this.observations.push(observation);
  }
}

function oneOf<T extends string>(allowed: readonly T[], unit: T, name: string): T {
  if (allowed.includes(unit)) return unit;
  throw new TabServeError(
    'invalid-input',
    `Metric ${JSON.stringify(name)}: expected a unit of ${allowed.join(', ')}, got ${String(unit)}.`,
  );
}

/**
 * Wraps the stages of one handler: each call is timed, and its error names the stage. Overridden stages are wrapped
 * too; a `super` call inside a stage is part of that stage and is not timed separately.
 */
export function instrument(handler: Handler, onStage: (context: Context | undefined) => void = () => {}): void {
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
    wrapMethod(handler, stage, timed as never);
  }
}

/** Sets the stage of the errors of rows that the stage failed. */
function setStage(stage: Stage, context: Context | undefined): void {
  const failures = context?.failures as Map<number, Error> | undefined;
  for (const [index, error] of failures ?? []) failures!.set(index, asTabServeError(error, stage));
}

function record(stage: Stage, started: number, context: Context | undefined): void {
  const ended = performance.now();
  // An app's handler may call a stage without its context, so that the time cannot be recorded.
  if (context?.metrics instanceof Recorder) context.metrics.ran(stage, ended - started);
  addSpan(stage, started, ended);
}
