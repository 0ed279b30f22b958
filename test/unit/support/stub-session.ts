import type { Session, Tensors } from '../../../src/contract/tensors.ts';

/** A model under test, which keeps what it is fed: no browser, no worker, no engine. */
export function stubSession(
  inputs: Session['inputs'],
  outputs: Session['outputs'],
  run: (feeds: Tensors) => Tensors,
): Session & { readonly runs: Tensors[] } {
  const runs: Tensors[] = [];
  return {
    inputs,
    outputs,
    runs,
    run: (feeds) => {
      runs.push(feeds);
      return Promise.resolve(run(feeds));
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
