import { METRIC_TYPES, type Observation } from '../../contract/metrics.js';
import { TabServeError } from '../../contract/errors.js';
import { BUILT_IN, type Definition } from './built-in.js';

/** Metrics that a handler may have. What varies belongs in a label, whose values are bounded too. */
const MOST_METRICS = 500;
const BUILT_INS = Object.keys(BUILT_IN).length;

/** As in Prometheus' text format. */
const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/;

/** Labels that are written with every metric, and those that a summary's lines and the series of surplus label values have. */
const RESERVED: ReadonlySet<string> = new Set(['ModelName', 'quantile', 'other']);

/** What each metric is, from its first observation on. */
export class Definitions {
  readonly #known = new Map<string, Definition>(Object.entries(BUILT_IN));

  /** The metric's definition. @throws `invalid-input`, naming the metric, for an observation that cannot be one of its */
  accept({ name, type, unit, value, labels }: Observation): Definition {
    const wrong = (what: string): TabServeError =>
      new TabServeError('invalid-input', `Metric ${JSON.stringify(name)}: ${what}.`);
    if (typeof value !== 'number' || !Number.isFinite(value))
      throw wrong(`expected a finite number, got ${String(value)}`);
    if (type !== 'gauge' && value < 0) throw wrong(`a ${type} takes no number below 0, got ${value}`);
    for (const [label, of] of Object.entries(labels ?? {})) {
      if (!LABEL.test(label))
        throw wrong(`a label's name has letters, digits and underscores, got ${JSON.stringify(label)}`);
      if (RESERVED.has(label)) throw wrong(`the label ${label} is set by TabServe`);
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
    if (taken !== undefined) throw wrong(`its lines and those of ${taken} would have the same name`);
    if (this.#known.size >= BUILT_INS + MOST_METRICS)
      throw wrong(`there are ${MOST_METRICS} metrics already: put what varies in a label`);
    const definition: Definition = { type, unit, help: `Recorded by the handler, in ${unit}.` };
    this.#known.set(name, definition);
    return definition;
  }

  /** A histogram X is written as X, X_sum and X_count. */
  #clash(name: string, type: Observation['type']): string | undefined {
    const parts = ['_sum', '_count'];
    const whole = parts.filter((part) => name.endsWith(part)).map((part) => name.slice(0, -part.length));
    return (
      whole.find((other) => this.#known.get(other)?.type === 'histogram') ??
      (type === 'histogram' ? parts.map((part) => name + part).find((other) => this.#known.has(other)) : undefined)
    );
  }
}
