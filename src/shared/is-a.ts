/** The names of the global classes. */
type ClassName = {
  [Name in keyof typeof globalThis]: (typeof globalThis)[Name] extends abstract new (...args: never) => unknown
    ? Name
    : never;
}[keyof typeof globalThis];

/**
 * Returns whether a value is an instance of a global class. Node.js, for example, lacks some of them; then no value is
 * one.
 */
export function isA<Name extends ClassName>(
  name: Name,
  value: unknown,
): value is InstanceType<(typeof globalThis)[Name]> {
  const Class: unknown = globalThis[name];
  return typeof Class === 'function' && value instanceof Class;
}
