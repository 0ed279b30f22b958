import { MAX_VALUES } from '../../contract/limits.js';
import { countValues } from '../../shared/schema.js';

/** The maximum number of levels of lists and mappings. */
export const MAX_CONFIG_DEPTH = 64;

/**
 * Returns which limit of a config a value exceeds, as the end of a sentence; undefined if none. The limits hold for a
 * config in YAML and for one that was parsed before.
 */
export function whyTooMuch(config: unknown): string | undefined {
  if (countValues(config, MAX_VALUES) > MAX_VALUES)
    return `it has more than ${MAX_VALUES} values, those included that its aliases repeat.`;
  let level = [config].filter(isNested);
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_CONFIG_DEPTH) return `it has more than ${MAX_CONFIG_DEPTH} levels of nesting.`;
    // This key has a special meaning in JavaScript, and no config needs it.
    if (level.some((one) => Object.hasOwn(one, '__proto__'))) return 'no key may be __proto__.';
    level = level.flatMap((one) => Object.values(one).filter(isNested));
  }
  return undefined;
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
