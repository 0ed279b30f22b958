import type { ConfigSchema } from '../shared/schema.js';

interface Configurable {
  readonly schema?: ConfigSchema;
}

/** Returns the schema of a handler class: the keys of `handler:` that the class and its base classes define. */
export function schemaOf(handlerClass: Configurable): ConfigSchema {
  const parent = Object.getPrototypeOf(handlerClass) as Configurable | null;
  const own = Object.hasOwn(handlerClass, 'schema') ? handlerClass.schema : {};
  return parent && parent !== Function.prototype ? { ...schemaOf(parent), ...own } : { ...own };
}

const defaults = new WeakMap<Configurable, Readonly<Record<string, unknown>>>();

/** Returns the defaults in the schema of a handler class, by key. */
export function defaultsOf(handlerClass: Configurable): Readonly<Record<string, unknown>> {
  let known = defaults.get(handlerClass);
  if (!known) {
    known = Object.fromEntries(
      Object.entries(schemaOf(handlerClass)).flatMap(([key, schema]) =>
        'default' in schema ? [[key, schema.default as unknown]] : [],
      ),
    );
    defaults.set(handlerClass, known);
  }
  return known;
}
