/** `/v1/embeddings`: OpenAI's API of vectors. */
import { PredictionError } from '../../../contract/errors.js';
import type { ServedVersion } from '../../served-version.js';
import { toBase64 } from '../base64.js';
import { jsonResponse } from '../responses.js';
import type { RouteContext } from '../route.js';
import { textsOf } from './inputs.js';
import { checkMakes, makesOther } from './models.js';
import { checkKnown, wrongField, wrongValue, type Body } from './request.js';
import type { HttpRequest, HttpResponse } from '../messages.js';

const FIELDS = ['model', 'input', 'encoding_format', 'dimensions', 'user'];

/**
 * Answers with vectors. The answer has no `usage`, because handlers of vectors do not tell how many tokens a text has.
 */
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
    const results = await client.handle(texts, { signal: request.signal, timeout });
    const data = results.map((vector, index) => {
      if (vector instanceof PredictionError) throw vector;
      if (!(vector instanceof Float32Array)) throw makesOther('vector', served);
      if (dimensions !== undefined && dimensions !== vector.length)
        throw wrongField('dimensions', `the model's vectors have ${vector.length}.`);
      return { object: 'embedding', index, embedding: format === 'float' ? [...vector] : toBase64(bytesOf(vector)) };
    });
    return jsonResponse({ object: 'list', data, model: name });
  });
}

/** Returns float32 numbers as bytes, the lowest first on every machine. */
function bytesOf(vector: Float32Array): Uint8Array {
  const view = new DataView(new ArrayBuffer(vector.length * 4));
  for (const [index, value] of vector.entries()) view.setFloat32(index * 4, value, true);
  return new Uint8Array(view.buffer);
}
