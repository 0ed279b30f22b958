import { METRIC_TYPES, type Observation } from '../../contract/metrics.js';
import { TabServeError } from '../../contract/errors.js';
import { BUILT_IN, type Definition } from './built-in.js';

/**
 * The maximum number of metrics that a handler may have. Values that vary belong in a label; the number of series is limited too.
 */
const MAX_METRICS = 500;
const BUILT_INS = Object.keys(BUILT_IN).length;

/** Names of metrics and labels in Prometheus' text format. */
const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/;

/**
 * Labels that TabServe writes: with every metric, on the lines of a summary, and on the series for surplus label
 * values.
 */
const RESERVED: ReadonlySet<string> = new Set(['ModelName', 'quantile', 'other']);

/** Stores the definition of each metric: its first observation sets the type and the unit. */
export class Definitions {
  readonly #known = new Map<string, Definition>(Object.entries(BUILT_IN));

  /**
   * Returns the definition of an observation's metric.
   * @throws `invalid-input`, naming the metric, if the observation does not fit it
   */
  accept({ name, type, unit, value, labels }: Observation): Definition {
    const wrong = (what: string): TabServeError =>
      new TabServeError('invalid-input', `Metric ${JSON.stringify(name)}: ${what}.`);
    if (typeof value !== 'number' || !Number.isFinite(value))
      throw wrong(`expected a finite number, got ${String(value)}`);
    if (type !== 'gauge' && value < 0) throw wrong(`a ${type} accepts no number below 0, got ${value}`);
    for (const [label, of] of Object.entries(labels ?? {})) {
      if (!LABEL.test(label))
        throw wrong(`a label's name has letters, digits and underscores, got ${JSON.stringify(label)}`);
      if (RESERVED.has(label)) throw wrong(`the label ${label} is set by TabServe: use another name`);
      if (typeof of !== 'string') throw wrong(`the label ${label} must be a string, got ${String(of)}`);
    }
    const known = this.#known.get(name);
    if (known && (known.type !== type || known.unit !== unit))
      throw wrong(`it is a ${known.type} in ${known.unit}, and cannot be a ${type} in ${unit} as well`);
    if (known) return known;
    if (typeof name !== 'string' || !NAME.test(name)) throw wrong('a name has letters, digits, underscores and colons');
    if (!METRIC_TYPES.includes(type)) throw wrong(`expected a type of ${METRIC_TYPES.join(', ')}, got ${String(type)}`);
    if (typeof unit !== 'string') throw wrong(`expected a unit, got ${String(unit)}`);
    const taken = this.#clash(name, type);
    if (taken !== undefined) throw wrong(`its lines and those of ${taken} would have the same name: use another name`);
    if (this.#known.size >= BUILT_INS + MAX_METRICS)
      throw wrong(`there are ${MAX_METRICS} metrics already: put the part of the name that varies in a label`);
    const definition: Definition = { type, unit, help: `Recorded by the handler, in ${unit}.` };
    this.#known.set(name, definition);
    return definition;
  }

  /** Returns a metric whose lines would have the same name. A histogram X is written as X, X_sum and X_count. */
  #clash(name: string, type: Observation['type']): string | undefined {
    const parts = ['_sum', '_count'];
    const histograms = parts.filter((part) => name.endsWith(part)).map((part) => name.slice(0, -part.length));
    return (
      histograms.find((other) => this.#known.get(other)?.type === 'histogram') ??
      (type === 'histogram' ? parts.map((part) => name + part).find((other) => this.#known.has(other)) : undefined)
    );
  }
}
