import { Validator, type Schema } from '@cfworker/json-schema';
import { TabServeError } from './errors.js';

export type { Schema };

/** JSON Schemas by key, for one section of a config. */
export type ConfigSchema = Readonly<Record<string, Schema>>;

/**
 * Checks the values of one section. A key that the schema does not know is passed on, with a warning.
 * @param where what the keys belong to, e.g. `handler`
 * @throws `model-config` naming the key, what it may be and what it is
 */
export function checkSection(schema: ConfigSchema, values: Readonly<Record<string, unknown>>, where: string, warn: (message: string) => void): void {
  for (const [key, value] of Object.entries(values)) {
    const expected = schema[key];
    if (!expected) {
      warn(`${where}.${key} is not a known key; there are ${Object.keys(schema).join(', ')}.`);
      continue;
    }
    const [error] = new Validator(expected).validate(value).errors.slice(-1);
    if (error) {
      const path = error.instanceLocation.replace(/^#/, '').replaceAll('/', '.');
      throw new TabServeError('model-config', `${where}.${key}${path}: ${error.error} Expected ${describe(expected)}, got ${JSON.stringify(value)}.`);
    }
  }
}

function describe({ enum: values, type, minimum, maximum }: Schema): string {
  if (values) return values.map((value) => JSON.stringify(value)).join(' or ');
  const range = [minimum !== undefined && `≥ ${minimum}`, maximum !== undefined && `≤ ${maximum}`].filter(Boolean).join(' and ');
  return [[type].flat().join(' or '), range].filter(Boolean).join(' ') || 'another value';
}
