export const METRIC_TYPES = ['counter', 'gauge', 'histogram'] as const;
/** A counter is summed, a gauge is its last value, a histogram has quantiles. */
export type MetricType = (typeof METRIC_TYPES)[number];

/** What tells series of one metric apart. A metric keeps 100 sets of them; the observations of further ones are kept together, as `{ other: 'true' }`. */
export type MetricLabels = Readonly<Record<string, string>>;

/** One call of a handler's to its `context.metrics`. */
export interface Observation {
  readonly name: string;
  readonly type: MetricType;
  readonly unit: string;
  readonly value: number;
  readonly labels?: MetricLabels;
}

/** What every metric may have. */
export interface LabelOptions {
  /** Names of letters, digits and underscores. @default none */
  readonly labels?: MetricLabels;
}

/** What `addTime` takes. */
export interface TimeOptions extends LabelOptions {
  /** @default 'ms' */
  readonly unit?: 'ms' | 's';
}

/** What `addSize` takes. */
export interface SizeOptions extends LabelOptions {
  /** @default 'MB' */
  readonly unit?: 'B' | 'kB' | 'MB' | 'GB';
}

/** What `addMetric` takes. */
export interface MetricOptions extends LabelOptions {
  /** Whatever the number counts. */
  readonly unit: string;
  /** @default 'counter', as TorchServe's */
  readonly type?: MetricType;
}

/**
 * What a handler counts and measures: it goes to the page with the batch's answer, into `client.metrics`, and no further. A metric's type and unit are those
 * of its first observation; its name has letters, digits, underscores and colons.
 *
 * Each method throws `invalid-input`, naming the metric, for NaN, ±∞, a number below 0 where the metric is no gauge, a name or a label that Prometheus could not
 * read, a metric that is of another type or unit already, the name of a metric that TabServe records by itself, and more than 500 metrics.
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

/** Quantiles are those of all that was observed, within 1 %. */
export interface HistogramSeries {
  readonly labels: MetricLabels;
  readonly unit: string;
  readonly count: number;
  readonly sum: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** Metrics by name, each with a series for each set of labels; only what was recorded. */
export interface MetricsSnapshot {
  readonly counters: Readonly<Record<string, readonly ValueSeries[]>>;
  readonly gauges: Readonly<Record<string, readonly ValueSeries[]>>;
  readonly histograms: Readonly<Record<string, readonly HistogramSeries[]>>;
}
