/** Answers requests of OpenAI's API, whose bodies name the model. */
import { isPlainObject } from '../../shared/is-plain-object.js';
import { answer } from './answer-by-policy.js';
import type { Settings } from './answer-predictions.js';
import type { Environment } from './environment.js';
import { ANSWERED_BY } from './protocol.js';
import type { ReplayableRequest } from './replayable-request.js';

/**
 * Answers a request as the policy of its model says; one for another model goes to the network. A body that is too large
 * to be read goes there too, unless a model is `device-only`: it might be that one's.
 */
export async function answerOpenAi(
  request: ReplayableRequest,
  path: string,
  settings: Settings,
  environment: Environment,
): Promise<Response> {
  const { models } = settings;
  const body = await request.body();
  const model = body instanceof Blob ? await modelIn(body, request.type) : undefined;
  const own = model !== undefined && Object.hasOwn(models, model) ? models[model] : undefined;
  const mayBePrivate = body === 'too-large' && Object.values(models).includes('device-only');
  const policy = mayBePrivate ? 'device-only' : own;
  if (policy) return await inOpenAiForm(await answer(request, { path, model, policy }, settings, environment));
  return await environment.fetch(await request.forServer(), { signal: request.signal });
}

/**
 * Returns the model that a body names, JSON or a form; undefined if it names none.
 * @param type as the request says it: that of a Blob is in lower case, and the boundary of a form is not
 */
export async function modelIn(body: Blob, type: string): Promise<string | undefined> {
  try {
    const isForm = /^multipart\//i.test(type);
    const given: unknown = isForm
      ? Object.fromEntries(await new Response(body, { headers: { 'content-type': type } }).formData())
      : JSON.parse(await body.text());
    return isPlainObject(given) && typeof given['model'] === 'string' ? given['model'] : undefined;
  } catch {
    return undefined;
  }
}

/** Returns a response whose error has OpenAI's form instead of the service worker's own. */
async function inOpenAiForm(response: Response): Promise<Response> {
  if (response.headers.get(ANSWERED_BY) !== 'none') return response;
  const { message } = (await response.json()) as { readonly message: string };
  const { status, headers } = response;
  return Response.json({ error: { message, type: 'server_error', param: null, code: null } }, { status, headers });
}
