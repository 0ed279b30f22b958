import { PredictionError } from '../../contract/errors.js';
import type { ExplainProgress } from '../../worker/outputs/explanation.js';
import { notify } from './events.js';
import type { Requester } from '../requests/requester.js';
import { Chunks } from '../requests/chunks.js';
import { readOptions, wrongValue } from '../../shared/read-options.js';
import type { RequestOptions } from '../requests/request-options.js';

/**
 * Requests the explanation of one input. The chunks that the handler sends in the meantime are its progress.
 * @throws what `Client.explain` throws
 */
export async function explainInput(requester: Requester, input: unknown, options: object): Promise<unknown> {
  const { request, onProgress } = readExplainOptions(options);
  const end = new AbortController();
  const chunks = onProgress && new Chunks({ restarts: true });
  if (chunks)
    chunks.onChunk = () => {
      const { chunk } = chunks.take();
      // An aborted handler may have sent another chunk.
      if (!end.signal.aborted) notify(onProgress, chunk as ExplainProgress);
    };
  try {
    const streamed = chunks && { chunks, stop: end.signal };
    const [explanation] = await requester.send([input], request, {
      request: 'explain',
      exclusive: true,
      ...(streamed && { streamed }),
    });
    if (explanation instanceof PredictionError) throw explanation;
    return explanation;
  } finally {
    end.abort();
  }
}

/** The options of an explanation as options of a request: `params` has those of the handler. */
export interface CheckedExplainOptions {
  readonly request: RequestOptions;
  readonly onProgress: ((progress: ExplainProgress) => void) | undefined;
}

/**
 * Separates the options of every request from those that the handler gets.
 * @throws `invalid-input` naming the option
 */
export function readExplainOptions(options: object): CheckedExplainOptions {
  const { signal, timeout, priority, transfer, params, onProgress, ...own } = readOptions<
    RequestOptions & Partial<CheckedExplainOptions>
  >(options, 'an object as options');
  if (onProgress !== undefined && typeof onProgress !== 'function')
    throw wrongValue('onProgress', 'a function', onProgress);
  const given = Object.entries({ signal, timeout, priority, transfer }).filter(([, value]) => value !== undefined);
  const common: object = params === undefined ? {} : readOptions(params, 'an object as params');
  return { request: { ...Object.fromEntries(given), params: { ...common, ...own } }, onProgress };
}
