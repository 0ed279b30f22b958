import type {
  LabelOptions,
  MetricOptions,
  Metrics,
  Observation,
  SizeOptions,
  TimeOptions,
} from '../contract/metrics.js';
import type { Stage } from '../contract/stages.js';
import { TabServeError } from '../contract/errors.js';
import { BUILT_IN } from '../shared/metrics/built-in.js';
import { Definitions } from '../shared/metrics/definitions.js';

const TIME_UNITS = ['ms', 's'] as const;
const SIZE_UNITS = ['B', 'kB', 'MB', 'GB'] as const;

/** Records a handler's observations in one batch as data. */
export class Recorder implements Metrics {
  /** The observations, in the order in which they were recorded. */
  readonly observations: Observation[];
  /** Milliseconds that the batch spent in each stage. */
  readonly timings: Partial<Record<Stage, number>> = {};
  readonly #definitions: Definitions;

  /**
   * @param definitions the definitions of the handler's metrics, which all of its batches share
   * @param earlier observations from before the batch
   */
  constructor(definitions = new Definitions(), earlier: readonly Observation[] = []) {
    this.#definitions = definitions;
    this.observations = [...earlier];
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
    const observation = labels ? { ...rest, labels: { ...labels } } : rest;
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
