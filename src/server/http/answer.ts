import { shorten } from '../../contract/describe-value.js';
import { loadScript } from '../../shared/load-script.js';
import { badRequest, serverDisposed } from '../serving-error.js';
import type { RouteContext, Incoming } from './route.js';
import { resourceNotFound } from './route.js';
import { explain, instances, ping, predictions } from './inference.js';
import { metrics } from './metrics.js';
import { models } from './management.js';
import { openInference } from './open-inference.js';
import { errorOf, errorResponse, jsonResponse } from './responses.js';
import type { HttpRequest, HttpResponse } from './messages.js';

/** Answers a request, gives the answer its id, and counts it. Never rejects. */
export async function answer(request: HttpRequest, context: RouteContext): Promise<HttpResponse> {
  const response = await answerWithoutId(request, context);
  context.statuses.count(response.status);
  response.headers.set('X-Request-Id', requestId(request));
  return response;
}

/** The prefix of this server's ids. A page without HTTPS has no crypto.randomUUID. */
const SERVER_ID = crypto.getRandomValues(new Uint32Array(2)).join('-');
let requests = 0;

/** Returns the id that the request has, so that logs of several servers can be joined; a new one if it has none. */
function requestId({ headers }: HttpRequest): string {
  const given = headers.get('x-request-id') ?? '';
  return /^[\x21-\x7e]{1,200}$/.test(given) ? given : `${SERVER_ID}-${++requests}`;
}

async function answerWithoutId(request: HttpRequest, context: RouteContext): Promise<HttpResponse> {
  try {
    if (context.disposed.aborted) throw serverDisposed();
    const incoming = read(request);
    return await (incoming.path[0] === 'v2' ? openInference(incoming, context) : route(incoming, context));
  } catch (error) {
    return errorResponse(errorOf(error));
  }
}

/** @throws `invalid-input` for a path that is not UTF-8 in percent-encoding */
function read(request: HttpRequest): Incoming {
  const { pathname, searchParams } = new URL(request.url);
  try {
    const path = pathname
      .split('/')
      .slice(1)
      .map((segment) => decodeURIComponent(segment));
    return { request, path: path.at(-1) === '' ? path.slice(0, -1) : path, query: searchParams };
  } catch (cause) {
    throw badRequest(`The path ${shorten(pathname)} has a percent sign that encodes nothing.`, cause);
  }
}

async function route(incoming: Incoming, context: RouteContext): Promise<HttpResponse> {
  const [first, second, third] = incoming.path;
  switch (first) {
    case undefined: {
      if (incoming.request.method !== 'OPTIONS') throw resourceNotFound();
      const { openApi } = await loadScript(() => import('./openapi.js'));
      return jsonResponse(openApi(context));
    }
    case 'ping':
      return ping(incoming, context);
    case 'metrics':
      return metrics(incoming, context);
    case 'predictions':
      return await predictions(incoming, context);
    case 'explanations':
      return await explain(incoming, context);
    case 'invocations': {
      // As in TorchServe, the name may be missing where there is one model.
      const { names } = context.registry;
      const name = incoming.query.get('model_name') ?? (names.length === 1 ? names[0]! : undefined);
      if (name === undefined) throw badRequest('Parameter model_name is required.');
      return await predictions(atPredictions(incoming, name), context);
    }
    case 'models':
      if (third === 'invoke' && incoming.request.method === 'POST' && incoming.path.length === 3)
        return await predictions(atPredictions(incoming, second!), context);
      return await models(incoming, context);
    case 'wfpredict': {
      const { findWorkflow } = await loadScript(() => import('./workflows.js'));
      if (second === undefined || incoming.path.length > 2) throw resourceNotFound();
      findWorkflow(second, context);
      return await predictions(atPredictions(incoming, second), context);
    }
    case 'workflows': {
      const { workflows } = await loadScript(() => import('./workflows.js'));
      return await workflows(incoming, context);
    }
    case 'v1': {
      if (second === 'models' && third !== undefined && /:\w+$/.test(third) && incoming.path.length === 3)
        return await instances(incoming, context);
      // Most pages generate no text.
      const openAi = await loadScript(async () => (await import('./openai/openai.js')).openAi);
      return await openAi(incoming, context);
    }
  }
  if (second === 'predict' && third === undefined) return await predictions(atPredictions(incoming, first!), context);
  throw resourceNotFound();
}

/** Returns a request to one of TorchServe's older paths as one to `/predictions`. */
function atPredictions(incoming: Incoming, name: string): Incoming {
  return { ...incoming, path: ['predictions', name] };
}
