/** `/v1/embeddings`: OpenAI's API of vectors. */
import { describeValue } from '../../../contract/describe-value.js';
import { PredictionError } from '../../../contract/errors.js';
import type { ServedVersion } from '../../served-version.js';
import { badRequest } from '../../serving-error.js';
import { toBase64 } from '../base64.js';
import { jsonResponse } from '../responses.js';
import type { RouteContext } from '../route.js';
import { FieldError, textsOf, type Body } from './request.js';

const FIELDS = new Set(['model', 'input', 'encoding_format', 'dimensions', 'user']);

/** The answer has no `usage`: handlers of vectors do not tell how many tokens a text has. */
export async function embeddings(
  body: Body,
  served: ServedVersion,
  request: Request,
  { timeout }: RouteContext,
): Promise<Response> {
  const unknown = Object.keys(body).find((name) => !FIELDS.has(name));
  if (unknown !== undefined) throw new FieldError(unknown, 'this field is not known here.');
  const { encoding_format: format = 'float', dimensions } = body;
  if (format !== 'float' && format !== 'base64')
    throw new FieldError('encoding_format', `expected "float" or "base64", got ${describeValue(format)}.`);
  const texts = textsOf(body['input'], 'input');
  const { name } = served.options;
  return await served.run(async (client) => {
    const results = await client.handle(texts, { signal: request.signal, timeout });
    const data = results.map((vector, index) => {
      if (vector instanceof PredictionError) throw vector;
      if (!(vector instanceof Float32Array))
        throw badRequest(`Model "${name}" makes no vectors: it answers with ${describeValue(vector)}.`);
      if (dimensions !== undefined && dimensions !== vector.length)
        throw new FieldError('dimensions', `the model's vectors have ${vector.length}.`);
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
