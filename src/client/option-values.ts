import { describeValue, isList } from '../contract/describe-value.js';
import { TabServeError } from '../contract/errors.js';

/** Returns a copy of a mapping: what the app does to its own afterwards changes nothing, and its getters may throw. @throws `model-config` if it is none */
export function readMapping(value: unknown, option: string, what: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !isList(value)) {
    try {
      return { ...value };
    } catch {
      // Reported below.
    }
  }
  throw wrong(option, `a mapping of ${what}`, value);
}

/** Returns a value that is one of a few. @throws `model-config` if it is not */
export function oneOf<T>(option: string, values: readonly T[], value: unknown): T {
  if (values.some((one) => one === value)) return value as T;
  throw wrong(option, `one of ${values.map(describeValue).join(', ')}`, value);
}

export function wrong(option: string, expected: string, got: unknown): TabServeError {
  return new TabServeError('model-config', `${option}: expected ${expected}, got ${describeValue(got)}.`);
}
