import type { BackendName, CandidateName, Probe } from '../../contract/backends.js';
import type { Found } from './in-page.js';

/**
 * What running an archive on a backend has shown.
 *
 * - `right`: its outputs are the expected ones within the tolerance.
 * - `wrong`: they are not.
 * - `skipped`: it does not run this model, or nothing can tell whether its outputs are right. An app takes another
 *   backend.
 * - `failed`: anything else: it crashed, took too long, the archive or its handler is broken. A skipped backend counts
 *   as failed if it was asked for by name, and all of them do if no backend is right.
 */
export type BackendVerdict = 'right' | 'wrong' | 'skipped' | 'failed';

/** The result of one backend. */
export interface BackendResult<Answer = unknown> {
  readonly backend: CandidateName;
  readonly verdict: BackendVerdict;
  /**
   * The largest absolute difference from the expected outputs; undefined if nothing was compared, or no number says it,
   * such as for a missing output.
   */
  readonly largestError: number | undefined;
  /**
   * Median of a run of the model, in milliseconds; undefined if it does not run, or if no input could be generated for
   * it.
   */
  readonly median: number | undefined;
  /** Why the verdict is what it is. */
  readonly reason: string;
  /**
   * The handler's answer to `input`, as Playwright brings data from a page; undefined without an input, or if there is
   * no answer.
   */
  readonly answer: Answer | undefined;
  /** Seconds that all of it took. */
  readonly seconds: number;
}

/** Returns the result of a backend, from what a page has found. @param seconds that it took */
export function judge(backend: CandidateName, found: Found, seconds: number): BackendResult {
  const nothing = { backend, seconds, largestError: undefined, median: undefined, answer: undefined };
  if (found.ok) {
    const { proof, largestError, median, precision, skipped } = found.backend;
    const { verdict, reason } = proven(backend, proof);
    const software = isSoftware(found.probe, found.backend.name) ? ', on a GPU in software' : '';
    // Which of a model's precisions ran, and why a smaller one did not.
    const others = skipped
      .filter((one) => one.precision !== undefined)
      .map((one) => `; ${one.precision}: ${one.reason}`);
    const ran = precision === undefined ? '' : `, in ${precision}`;
    return {
      ...nothing,
      verdict,
      largestError,
      median,
      answer: found.answer,
      reason: `${reason}${ran}${software}${others.join('')}`,
    };
  }
  const { code, cause, message } = found;
  // The client says this about each of its backends; here there is only one.
  const reason = message.split(`${backend}: `).at(-1)!;
  if (code !== 'no-backend') return { ...nothing, verdict: 'failed', reason };
  if (cause === 'backend-wrong') return { ...nothing, verdict: 'wrong', largestError: differenceIn(message), reason };
  return { ...nothing, verdict: cause === undefined || cause === 'backend-failed' ? 'skipped' : 'failed', reason };
}

function proven(
  backend: CandidateName,
  proof: 'golden' | 'reference' | 'none',
): Pick<BackendResult, 'verdict' | 'reason'> {
  if (proof === 'golden') return { verdict: 'right', reason: 'golden examples' };
  if (proof === 'reference') return { verdict: 'right', reason: 'compared with WASM' };
  if (/\/(wasm|cpu)$/.test(backend))
    return { verdict: 'right', reason: 'runs; without golden examples it is what the others are compared with' };
  return {
    verdict: 'skipped',
    reason:
      'It runs, but could not be compared with WASM: that does not run the model, or no input could be generated. Give the archive a golden example: docs/command-line.md.',
  };
}

/** Returns the difference in the text of a `backend-wrong`, as `compareOutputs` writes it. */
function differenceIn(message: string): number | undefined {
  const [, difference] = / is off by (\S+) at /.exec(message) ?? [];
  return difference === undefined ? undefined : Number(difference);
}

function isSoftware(probe: Probe | undefined, name: BackendName): boolean {
  const found = name === 'webgpu' ? probe?.webgpu : name === 'webgl' ? probe?.webgl : undefined;
  return found?.available === true && found.software;
}

/** Returns results in which what was skipped has failed, if every backend was needed. */
export function conclude(results: readonly BackendResult[], isNeeded: boolean): readonly BackendResult[] {
  return results.map((one) => (isNeeded && one.verdict === 'skipped' ? { ...one, verdict: 'failed' } : one));
}
