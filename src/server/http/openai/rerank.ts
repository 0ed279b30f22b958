/** `/v1/rerank`: texts in the order of how well they answer a query, as Jina, Cohere and vLLM speak it. */
import { isPlainObject } from '../../../shared/is-plain-object.js';
import type { ServedVersion } from '../../served-version.js';
import { jsonResponse } from '../responses.js';
import type { RouteContext } from '../route.js';
import type { HttpRequest, HttpResponse } from '../messages.js';
import { checkMakes, makesOther } from './models.js';
import { checkKnown, wrongField, wrongValue, type Body } from './request.js';
import { idOf } from './response-output.js';

const FIELDS = ['model', 'query', 'documents', 'top_n', 'return_documents', 'user'];
/** The maximum number of texts of one request: Cohere's. */
const MAX_DOCUMENTS = 1000;

export async function rerank(
  body: Body,
  served: ServedVersion,
  request: HttpRequest,
  context: RouteContext,
): Promise<HttpResponse> {
  checkMakes('ranking', served);
  checkKnown(body, FIELDS);
  const { query, top_n: most, return_documents: returns = false } = body;
  if (typeof query !== 'string') throw wrongValue('query', 'a text', query);
  const texts = documentsOf(body['documents']);
  if (most !== undefined && !(Number.isInteger(most) && (most as number) >= 1))
    throw wrongValue('top_n', 'a whole number from 1', most);
  if (typeof returns !== 'boolean') throw wrongValue('return_documents', 'true or false', returns);
  const params = most === undefined ? {} : { topK: most };
  const options = { params, signal: request.signal, timeout: context.timeout };
  return await served.run(async () => {
    const ranked = await context.predict(served, { query, texts }, options);
    if (!Array.isArray(ranked)) throw makesOther('ranking', served);
    const results = (ranked as readonly { index: number; score: number }[]).map(({ index, score }) => ({
      index,
      relevance_score: score,
      ...(returns && { document: { text: texts[index] } }),
    }));
    return jsonResponse({ id: idOf('rerank'), model: served.options.name, results });
  });
}

/** Returns the texts of `documents`: a list of texts, or of objects with a `text`. */
function documentsOf(documents: unknown): readonly string[] {
  if (!Array.isArray(documents) || documents.length === 0) throw wrongValue('documents', 'a list of texts', documents);
  if (documents.length > MAX_DOCUMENTS)
    throw wrongField(
      'documents',
      `expected at most ${MAX_DOCUMENTS}, got ${documents.length}.`,
      'array_above_max_length',
    );
  return documents.map((document: unknown, at) => {
    const text = isPlainObject(document) ? document['text'] : document;
    if (typeof text === 'string') return text;
    throw wrongValue(`documents[${at}]`, 'a text, or an object with a text', document);
  });
}
