/** `/v1/embeddings`: OpenAI's API of vectors. */
import { PredictionError } from '../../../contract/errors.js';
import type { ServedVersion } from '../../served-version.js';
import { toBase64 } from '../base64.js';
import { jsonResponse } from '../responses.js';
import type { RouteContext } from '../route.js';
import { inFieldNames, type FieldNames } from './field-names.js';
import { textsOf } from './inputs.js';
import { checkMakes, makesOther } from './models.js';
import { checkKnown, wrongField, wrongValue, type Body } from './request.js';
import type { HttpRequest, HttpResponse } from '../messages.js';

/** A result that says how many tokens its text has. */
interface Counted {
  readonly embedding: unknown;
  readonly usage?: { readonly promptTokens: number };
}

/** The params that are fields, too. */
const PARAMS: FieldNames = new Map([['dimensions', 'dimensions']]);

const FIELDS = ['model', 'input', 'encoding_format', 'dimensions', 'user'];

/** Answers with vectors. The answer has no `usage` if the handler is one of the app's own, which counts no tokens. */
export async function embeddings(
  body: Body,
  served: ServedVersion,
  request: HttpRequest,
  { timeout }: RouteContext,
): Promise<HttpResponse> {
  checkMakes('vector', served);
  checkKnown(body, FIELDS);
  const { encoding_format: format = 'float', dimensions } = body;
  if (format !== 'float' && format !== 'base64') throw wrongValue('encoding_format', '"float" or "base64"', format);
  const texts = textsOf(body['input'], 'input');
  const { name } = served.options;
  return await served.run(async (client) => {
    const isCounted = served.options.description.resultForms?.includes('usage') === true;
    const wanted = typeof dimensions === 'number' ? { dimensions } : {};
    const options = { signal: request.signal, timeout, ...(isCounted && { params: { result: 'usage', ...wanted } }) };
    let tokens = 0;
    const results = await client.handle(texts, options).catch((error: unknown) => {
      throw inFieldNames(error, PARAMS);
    });
    const data = results.map((result, index) => {
      if (result instanceof PredictionError) throw inFieldNames(result, PARAMS);
      const { embedding: vector, usage } = isCounted ? (result as Counted) : { embedding: result };
      tokens += usage?.promptTokens ?? 0;
      if (!(vector instanceof Float32Array)) throw makesOther('vector', served);
      if (dimensions !== undefined && dimensions !== vector.length)
        throw wrongField('dimensions', `the model's vectors have ${vector.length}.`);
      return { object: 'embedding', index, embedding: format === 'float' ? [...vector] : toBase64(bytesOf(vector)) };
    });
    const usage = { prompt_tokens: tokens, total_tokens: tokens };
    return jsonResponse({ object: 'list', data, model: name, ...(isCounted && { usage }) });
  });
}

/** Returns float32 numbers as bytes, the lowest first on every machine. */
function bytesOf(vector: Float32Array): Uint8Array {
  const view = new DataView(new ArrayBuffer(vector.length * 4));
  for (const [index, value] of vector.entries()) view.setFloat32(index * 4, value, true);
  return new Uint8Array(view.buffer);
}
