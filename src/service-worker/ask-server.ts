import type { Answer } from './answer-by-policy.js';
import type { Environment } from './environment.js';

/**
 * Sends a request to the server behind its URL, once.
 *
 * @param timeout milliseconds until the response's headers; undefined if nobody else can answer, so that the server may take its time
 * @throws the signal's reason
 */
export async function askServer(
  request: Request,
  timeout: number | undefined,
  signal: AbortSignal,
  { fetch, clock }: Pick<Environment, 'fetch' | 'clock'>,
): Promise<Answer> {
  const late = new AbortController();
  const cancel = timeout === undefined ? () => {} : clock.schedule(() => late.abort(), timeout);
  try {
    const response = await fetch(request, { signal: AbortSignal.any([signal, late.signal]) });
    return response.status >= 500 ? { response, failure: 'server-failed' } : { response };
  } catch {
    signal.throwIfAborted();
    return { failure: late.signal.aborted ? 'server-timeout' : 'server-unreachable' };
  } finally {
    cancel();
  }
}
