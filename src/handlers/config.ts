import { Validator, type Schema } from '@cfworker/json-schema';
import type { Context } from '../contract.js';
import { TabServeError } from '../errors.js';

/** JSON Schemas by key, for a handler class's own part of `handler:` in `model-config.yaml`. */
export type ConfigSchema = Readonly<Record<string, Schema>>;

interface Configurable {
  readonly schema?: ConfigSchema;
}

/** The schema of a handler class: its own keys and those of the classes that it extends. */
export function schemaOf(handlerClass: Configurable): ConfigSchema {
  const parent = Object.getPrototypeOf(handlerClass) as Configurable | null;
  const own = Object.hasOwn(handlerClass, 'schema') ? handlerClass.schema : {};
  return parent && parent !== Function.prototype ? { ...schemaOf(parent), ...own } : { ...own };
}

/**
 * Checks values against a handler class's schema. A key that the schema does not know is passed on, with a warning.
 * @param where what the keys belong to, e.g. `handler`
 * @throws `model-config` naming the key and what it may be
 */
export function checkConfig(handlerClass: Configurable, values: Readonly<Record<string, unknown>>, where: string, context: Context): void {
  const schema = schemaOf(handlerClass);
  for (const [key, value] of Object.entries(values)) {
    const expected = schema[key];
    if (!expected) {
      context.warn(`${where}.${key} is not a key of this handler; it has ${Object.keys(schema).join(', ')}.`);
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
