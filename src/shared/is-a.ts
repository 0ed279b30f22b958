/** The names of the global classes. */
type ClassName = {
  [Name in keyof typeof globalThis]: (typeof globalThis)[Name] extends abstract new (...args: never) => unknown
    ? Name
    : never;
}[keyof typeof globalThis];

/** Returns whether a value is an instance of a global class. Node.js, say, lacks some of them, and then nothing is. */
export function isA<Name extends ClassName>(
  name: Name,
  value: unknown,
): value is InstanceType<(typeof globalThis)[Name]> {
  const Class: unknown = globalThis[name];
  return typeof Class === 'function' && value instanceof Class;
}
