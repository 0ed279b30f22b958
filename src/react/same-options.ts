import type { ClientOptions } from '../client/options.js';
import type { WorkerFactory } from '../client/workers/early-worker.js';

/** What a client is made from: a factory, or undefined for the built-in worker, and the options of `connect`. */
export interface Source {
  readonly factory: WorkerFactory | undefined;
  readonly options: ClientOptions;
}

/** Returns whether two sources are the same, with the same functions: their components share a client. */
export function isSame(a: Source, b: Source): boolean {
  return a.factory === b.factory && a.options.verdicts === b.options.verdicts && isSameData(a, b);
}

/**
 * Returns whether two sources have the same data: then a component keeps its client. A factory and a store of verdicts that are written inline are new ones in every
 * render, so they do not count.
 */
export function isSameData(a: Source, b: Source): boolean {
  const { verdicts: _a, ...dataOfA } = a.options;
  const { verdicts: _b, ...dataOfB } = b.options;
  return typeof a.factory === typeof b.factory && isEqual(dataOfA, dataOfB);
}

/** Compares lists, plain objects and URLs by what they hold, and everything else, such as files, by identity. */
function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (a instanceof URL && b instanceof URL) return a.href === b.href;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((value, index) => isEqual(value, b[index]));
  if (!isPlain(a) || !isPlain(b)) return false;
  return Object.keys({ ...a, ...b }).every((key) => isEqual(a[key], b[key]));
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
