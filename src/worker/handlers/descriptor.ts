/** What a handler class says of itself: what follows from its static members, and from those that it inherits. */
import type { HandlerDescriptor } from '../../contract/handler.js';
import type { ConfigSchema } from '../../shared/schema.js';
import { isStandard } from './handler-contract.js';

interface Configurable extends HandlerDescriptor {
  readonly schema?: ConfigSchema;
}

/** Returns what the rows of a handler are, and what it makes of them; undefined for what its class does not say. */
export function kindsOf(handler: object): Pick<HandlerDescriptor, 'takes' | 'makes'> {
  const { takes, makes } = handler.constructor as Configurable;
  return { takes, makes };
}

/**
 * Returns the values of the param `result`. A handler that makes other results than the class whose schema has them has
 * no forms.
 */
export function resultFormsOf(handler: object): readonly string[] {
  const { postprocess, rowResults } = handler as { readonly postprocess?: object; readonly rowResults?: object };
  if (!isStandard(postprocess) || !isStandard(rowResults)) return [];
  return (schemaOf(handler.constructor as Configurable)['result']?.enum ?? []) as string[];
}

const schemas = new WeakMap<Configurable, ConfigSchema>();

/** Returns the schema of a handler class: the keys of `handler:` that the class and its base classes define. */
export function schemaOf(handlerClass: Configurable): ConfigSchema {
  let known = schemas.get(handlerClass);
  if (!known) {
    const parent = Object.getPrototypeOf(handlerClass) as Configurable | null;
    const own = Object.hasOwn(handlerClass, 'schema') ? handlerClass.schema : {};
    known = { ...(parent && parent !== Function.prototype ? schemaOf(parent) : {}), ...own };
    schemas.set(handlerClass, known);
  }
  return known;
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
