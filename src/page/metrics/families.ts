import type {
  HistogramSeries,
  MetricLabels,
  MetricsSnapshot,
  MetricType,
  Observation,
  ValueSeries,
} from '../../contract/metrics.js';
import { BUILT_IN, type BuiltInName, type Definition } from '../../shared/metrics/built-in.js';
import { Definitions } from '../../shared/metrics/definitions.js';
import { Sketch } from './sketch.js';

/** The limit for the label sets of one metric. Observations with further sets share one series, `{ other: 'true' }`. */
export const MAX_SERIES = 100;
const OTHER: MetricLabels = { other: 'true' };
const NO_LABELS: MetricLabels = {};

/** One metric with one set of labels. */
interface Series {
  readonly labels: MetricLabels;
  value: number;
  readonly sketch: Sketch | undefined;
}

/** All series of one metric. */
export class Family {
  readonly name: string;
  readonly definition: Definition;
  readonly #series = new Map<string, Series>();
  readonly #onOverflow: (name: string) => void;
  #other: Series | undefined;

  constructor(name: string, definition: Definition, onOverflow: (name: string) => void) {
    this.name = name;
    this.definition = definition;
    this.#onOverflow = onOverflow;
  }

  record(value: number, labels: MetricLabels = NO_LABELS): void {
    const series = this.#of(labels);
    if (series.sketch) series.sketch.add(value);
    else series.value = this.definition.type === 'counter' ? series.value + value : value;
  }

  *values(): Iterable<ValueSeries> {
    const { unit } = this.definition;
    for (const { labels, value } of this.#all()) yield { labels, unit, value };
  }

  *histograms(): Iterable<HistogramSeries> {
    const { unit } = this.definition;
    for (const { labels, sketch } of this.#all()) {
      const [p50, p95, p99] = sketch!.quantiles(0.5, 0.95, 0.99) as [number, number, number];
      yield { labels, unit, count: sketch!.count, sum: sketch!.sum, p50, p95, p99 };
    }
  }

  #of(labels: MetricLabels): Series {
    const key = keyOf(labels);
    const known = this.#series.get(key);
    if (known) return known;
    if (this.#series.size < MAX_SERIES) {
      const series = this.#empty(labels);
      this.#series.set(key, series);
      return series;
    }
    if (!this.#other) this.#onOverflow(this.name);
    return (this.#other ??= this.#empty(OTHER));
  }

  #empty(labels: MetricLabels): Series {
    return { labels, value: 0, sketch: this.definition.type === 'histogram' ? new Sketch() : undefined };
  }

  *#all(): Iterable<Series> {
    yield* this.#series.values();
    if (this.#other) yield this.#other;
  }
}

/** All metrics of one model. Their memory does not grow with the number of observations. */
export class Registry {
  readonly #families = new Map<string, Family>();
  readonly #definitions = new Definitions();
  readonly #warn: (message: string) => void;

  /** @param warn called once for each metric that has too many label sets */
  constructor(warn: (message: string) => void) {
    this.#warn = warn;
  }

  /**
   * Adds an observation.
   * @throws `invalid-input`, naming the metric, for NaN, ∞, a negative counter or time, or if the metric already has
   *   another type or unit
   */
  record(observation: Observation): void {
    this.#family(observation.name, this.#definitions.accept(observation)).record(observation.value, observation.labels);
  }

  /** Returns one of TabServe's own metrics. Its observations need no check. */
  builtIn(name: BuiltInName): Family {
    return this.#family(name, BUILT_IN[name]);
  }

  get families(): Iterable<Family> {
    return this.#families.values();
  }

  snapshot(): MetricsSnapshot {
    const of = (type: MetricType): Family[] => [...this.families].filter(({ definition }) => definition.type === type);
    const values = (type: MetricType): MetricsSnapshot['counters'] =>
      Object.fromEntries(of(type).map((family) => [family.name, [...family.values()]]));
    return {
      counters: values('counter'),
      gauges: values('gauge'),
      histograms: Object.fromEntries(of('histogram').map((family) => [family.name, [...family.histograms()]])),
    };
  }

  #family(name: string, definition: Definition): Family {
    const known = this.#families.get(name);
    if (known) return known;
    const family = new Family(name, definition, () =>
      this.#warn(
        `The metric ${name} has more than ${MAX_SERIES} sets of labels: observations with further sets are recorded as { other: 'true' }.`,
      ),
    );
    this.#families.set(name, family);
    return family;
  }
}

/** Returns the key of a set of labels, whatever their order. */
function keyOf(labels: MetricLabels): string {
  const names = Object.keys(labels);
  if (names.length === 0) return '';
  if (names.length === 1) return `${names[0]}\n${labels[names[0]!]}`;
  return JSON.stringify(names.sort().map((name) => [name, labels[name]]));
}
