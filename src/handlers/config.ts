import type { ConfigSchema } from '../shared/schema.js';

interface Configurable {
  readonly schema?: ConfigSchema;
}

/** The schema of a handler class: its own keys of `handler:` in `model-config.yaml`, and those of the classes that it extends. */
export function schemaOf(handlerClass: Configurable): ConfigSchema {
  const parent = Object.getPrototypeOf(handlerClass) as Configurable | null;
  const own = Object.hasOwn(handlerClass, 'schema') ? handlerClass.schema : {};
  return parent && parent !== Function.prototype ? { ...schemaOf(parent), ...own } : { ...own };
}
