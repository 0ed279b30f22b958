/** Which workers are built in. The page's first script makes them, so this is a file of its own. */

/** The workers that no app has listeners for. */
const builtIn = new WeakSet<Worker>();

/** Records that a worker is the built-in one, whose messages are all its connection's. */
export function markBuiltIn(worker: Worker): Worker {
  builtIn.add(worker);
  return worker;
}

/** Returns whether all messages of a worker are its connection's. */
export function isBuiltIn(worker: Worker): boolean {
  return builtIn.has(worker);
}
