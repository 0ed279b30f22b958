/** What all clients of this page have taken. */
let taken = 0;

/**
 * Takes threads for a worker from the page's one budget, its cores. A client's only worker must be, and one that replaces another: it takes even what is not there.
 * Calling the answer, once, gives them back; undefined if there are not so many.
 */
export function reserve(threads: number, { must }: { readonly must: boolean }): (() => void) | undefined {
  const cores = globalThis.navigator?.hardwareConcurrency ?? 1;
  if (!must && taken + threads > cores) return undefined;
  taken += threads;
  let given = false;
  return () => {
    if (!given) taken -= threads;
    given = true;
  };
}
