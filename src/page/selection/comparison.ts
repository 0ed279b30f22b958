import { candidateName, type Candidate } from '../../contract/backends.js';
import { asTabServeError, TabServeError } from '../../contract/errors.js';
import type { Comparison, Sample } from '../../contract/wire.js';
import type { Connection } from '../workers/connection.js';

export interface ComparisonOptions {
  /** Returns runs of `worker`; none if no input can be generated. */
  readonly samples: () => Promise<readonly Sample[]>;
  /** Undefined for a model that is only on a server. */
  readonly reference: Candidate | undefined;
  /** Starts a worker; `until` also ends the start. */
  readonly start: (until: AbortSignal) => Promise<Connection>;
  /** Opens the model on a candidate in a worker. */
  readonly open: (worker: Connection, candidate: Candidate) => Promise<void>;
  readonly log: (message: string, since?: number) => void;
}

/** Why two candidates could not be compared. */
export interface NoComparison {
  readonly unknown: string;
}

/**
 * Runs the model on the inputs of runs in `worker` on WASM, in a second worker, which compares the outputs.
 * @throws the error that ended `worker`. A failure of the second worker is not thrown: the answer then says that
 *   nothing is known.
 */
export async function compareWithReference(
  candidate: Candidate,
  worker: Connection,
  { samples: take, reference, start, open, log }: ComparisonOptions,
): Promise<Comparison | NoComparison> {
  const since = performance.now();
  const names = `${candidateName(candidate)} with ${reference ? candidateName(reference) : 'WASM'}`;
  if (!reference) return unknown('the archive has no model that WASM could run.');
  const samples = await take();
  if (samples.length === 0)
    return unknown("the dims of the model's inputs are not fixed, so no input can be generated.");
  let second: Connection | undefined;
  try {
    second = await start(worker.ended);
    worker.ended.addEventListener('abort', () => second!.close(worker.error!));
    await open(second, reference);
    const comparison = await second.call(({ compare }) => compare(samples));
    const { inputs, error } = comparison;
    if (inputs === 0) return unknown("on each input, the model's outputs change with its last bits.");
    log(`Compared ${names} on ${inputs} inputs: the largest difference is ${error.toPrecision(3)}.`, since);
    return comparison;
  } catch (error) {
    if (worker.error) throw worker.error;
    return unknown(asTabServeError(error).message);
  } finally {
    second?.close(new TabServeError('disposed', 'The comparison is done.'));
  }

  function unknown(why: string): NoComparison {
    log(`Could not compare ${names}: ${why}`, since);
    return { unknown: why };
  }
}
