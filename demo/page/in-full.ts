import { described } from './errors.js';
import { Explained } from './explained.js';

/** Returns an error in full: about a model of the visitor's choice, the SDK's message says what is wrong, and what to do. */
export function inFull(error: unknown): unknown {
  if (error instanceof Explained) return error;
  const { code, message } = described(error);
  return new Explained(`${code}: ${message}`);
}
