import { PredictionError } from '../contract/errors.js';
import type { ExplainProgress } from '../outputs/explanation.js';
import { notify } from './events.js';
import type { Requester } from './requester.js';
import { readExplainOptions } from './requests/explain-options.js';
import { Parts } from './requests/parts.js';

/** Requests the explanation of one input. The parts that the handler sends in the meantime are its progress. @throws what `Client.explain` throws */
export async function explainInput(requester: Requester, input: unknown, options: object): Promise<unknown> {
  const { request, onProgress } = readExplainOptions(options);
  const end = new AbortController();
  const parts = onProgress && new Parts({ restarts: true });
  if (parts)
    parts.onPart = () => {
      const part = parts.read();
      // An aborted handler may have sent one more.
      if (!end.signal.aborted) notify(onProgress, part as ExplainProgress);
    };
  try {
    const streamed = parts && { parts, stop: end.signal };
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
