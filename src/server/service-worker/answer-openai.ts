/** Answers requests of OpenAI's API, whose bodies name the model. */
import { isPlainObject } from '../../shared/is-plain-object.js';
import { answer } from './answer-by-policy.js';
import type { Settings } from './answer-predictions.js';
import type { Environment } from './environment.js';
import { ANSWERED_BY } from './protocol.js';
import type { ReplayableRequest } from './replayable-request.js';
import type { BodyRoute } from './routes.js';

/**
 * Answers a request as the policy of its model says; one for another model goes to the network. A body that is too large
 * to be read, or cannot be read here, goes there too, unless a model is `device-only`: it might be that one's.
 */
export async function answerOpenAi(
  request: ReplayableRequest,
  { path, isAnswered }: BodyRoute,
  settings: Settings,
  environment: Environment,
): Promise<Response> {
  const { models } = settings;
  const body = await request.body();
  const named =
    body instanceof Blob ? await modelIn(body, new Headers(Object.fromEntries(request.headers))) : undefined;
  const { model } = named ?? {};
  const own = model !== undefined && Object.hasOwn(models, model) ? models[model] : undefined;
  const mayBePrivate = !named && Object.values(models).includes('device-only');
  const policy = mayBePrivate || own === 'device-only' ? 'device-only' : isAnswered ? own : undefined;
  if (policy) return await inOpenAiForm(await answer(request, { path, model, policy }, settings, environment));
  return await environment.fetch(await request.forServer(), { signal: request.signal });
}

/**
 * Returns the model that a body names, JSON or a form, which may be compressed; undefined if the body cannot be read
 * here. A server may read more than a browser does.
 * @param headers of the request: the type of a Blob is in lower case, and the boundary of a form is not
 */
export async function modelIn(body: Blob, headers: Headers): Promise<{ readonly model?: string } | undefined> {
  const type = headers.get('content-type') ?? '';
  try {
    const decoded = new Response(decompressed(body, headers), { headers: { 'content-type': type } });
    const given: unknown = /^multipart\//i.test(type)
      ? Object.fromEntries(await decoded.formData())
      : JSON.parse(await decoded.text());
    const model = isPlainObject(given) ? given['model'] : undefined;
    // A part of a form that has a file name: a server may read it nevertheless.
    if (model instanceof Blob) return undefined;
    return typeof model === 'string' ? { model } : {};
  } catch {
    return undefined;
  }
}

/** Undoes the encodings of a body, the last one first. @throws TypeError for one that the browser cannot decode */
function decompressed(body: Blob, headers: Headers): ReadableStream {
  const encodings = (headers.get('content-encoding') ?? '').toLowerCase().split(/[\s,]+/);
  return encodings
    .filter((one) => one !== '' && one !== 'identity')
    .reduceRight<ReadableStream>(
      (stream, one) => stream.pipeThrough(new DecompressionStream(one.replace(/^x-/, '') as CompressionFormat)),
      body.stream(),
    );
}

/** Returns a response whose error has OpenAI's form instead of the service worker's own. */
async function inOpenAiForm(response: Response): Promise<Response> {
  if (response.headers.get(ANSWERED_BY) !== 'none') return response;
  const { message } = (await response.json()) as { readonly message: string };
  const { status, headers } = response;
  return Response.json({ error: { message, type: 'server_error', param: null, code: null } }, { status, headers });
}
