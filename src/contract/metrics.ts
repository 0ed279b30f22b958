export const METRIC_TYPES = ['counter', 'gauge', 'histogram'] as const;
/** A counter adds its values up, a gauge keeps the last value, and a histogram has quantiles. */
export type MetricType = (typeof METRIC_TYPES)[number];

/**
 * Labels distinguish the series of one metric. A metric has at most 100 sets of labels; observations with further sets
 * share the series `{ other: 'true' }`.
 */
export type MetricLabels = Readonly<Record<string, string>>;

/** One call of a handler to its `context.metrics`. */
export interface Observation {
  readonly name: string;
  readonly type: MetricType;
  readonly unit: string;
  readonly value: number;
  readonly labels?: MetricLabels;
}

/** Options of every metric. */
export interface LabelOptions {
  /** Names of letters, digits and underscores. @default none */
  readonly labels?: MetricLabels;
}

/** Options of `addTime`. */
export interface TimeOptions extends LabelOptions {
  /** @default 'ms' */
  readonly unit?: 'ms' | 's';
}

/** Options of `addSize`. */
export interface SizeOptions extends LabelOptions {
  /** @default 'MB' */
  readonly unit?: 'B' | 'kB' | 'MB' | 'GB';
}

/** Options of `addMetric`. */
export interface MetricOptions extends LabelOptions {
  /** The unit of the number, e.g. `count`. */
  readonly unit: string;
  /** @default 'counter', as TorchServe's */
  readonly type?: MetricType;
}

/**
 * Records what a handler counts and measures. The batch's answer carries it to the page, into `client.metrics`; it is
 * sent nowhere else. A metric's type and unit are those of its first observation. Its name has letters, digits,
 * underscores and colons.
 *
 * Each method throws `invalid-input`, naming the metric, for NaN, ±∞, a number below 0 unless the metric is a gauge, a
 * name or a label that Prometheus cannot read, a metric that already has another type or unit, the name of a metric
 * that TabServe records by itself, and more than 500 metrics.
 */
export interface Metrics {
  /** Adds to a counter. @param value at least 0. @default 1 */
  addCounter(name: string, value?: number, options?: LabelOptions): void;
  /** Records a duration, in a histogram. @param value at least 0, in milliseconds or the `unit` given */
  addTime(name: string, value: number, options?: TimeOptions): void;
  /** Records a size, in a histogram. @param value at least 0, in megabytes or the `unit` given; nothing is converted */
  addSize(name: string, value: number, options?: SizeOptions): void;
  /** Records a percentage, in a histogram. @param value at least 0; 50 is a half */
  addPercent(name: string, value: number, options?: LabelOptions): void;
  /** Counts an error, with the labels `Level: 'Error'` and `error`: its message. */
  addError(name: string, message: string, options?: LabelOptions): void;
  /** Records a number of any unit, in a metric of any type. */
  addMetric(name: string, value: number, options: MetricOptions): void;
}

/** A counter's sum, or a gauge's last value. */
export interface ValueSeries {
  readonly labels: MetricLabels;
  readonly unit: string;
  readonly value: number;
}

/** A histogram's count, sum and quantiles. The quantiles are those of all observed values, within 1 %. */
export interface HistogramSeries {
  readonly labels: MetricLabels;
  readonly unit: string;
  readonly count: number;
  readonly sum: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** The recorded metrics by name, each with one series per set of labels. */
export interface MetricsSnapshot {
  readonly counters: Readonly<Record<string, readonly ValueSeries[]>>;
  readonly gauges: Readonly<Record<string, readonly ValueSeries[]>>;
  readonly histograms: Readonly<Record<string, readonly HistogramSeries[]>>;
}
