import { shorten } from '../../contract/describe-value.js';
import { badRequest, serverDisposed } from '../serving-error.js';
import type { FrontDoor, Visit } from './front-door.js';
import { resourceNotFound } from './front-door.js';
import { explain, instances, ping, predictions } from './inference.js';
import { metrics } from './metrics.js';
import { models } from './management.js';
import { openInference } from './open-inference.js';
import { errorOf, errorResponse } from './responses.js';

/** Answers a request. Never rejects. */
export async function answer(request: Request, door: FrontDoor): Promise<Response> {
  try {
    if (door.disposed.aborted) throw serverDisposed();
    const visit = read(request);
    return await (visit.path[0] === 'v2' ? openInference(visit, door) : route(visit, door));
  } catch (error) {
    return errorResponse(errorOf(error));
  }
}

/** @throws `invalid-input` for a path that is not UTF-8 in percent-encoding */
function read(request: Request): Visit {
  const { pathname, searchParams } = new URL(request.url);
  try {
    const path = pathname.split('/').slice(1).map((segment) => decodeURIComponent(segment)); // prettier-ignore
    return { request, path: path.at(-1) === '' ? path.slice(0, -1) : path, query: searchParams };
  } catch (cause) {
    throw badRequest(`The path ${shorten(pathname)} has a percent sign that encodes nothing.`, cause);
  }
}

async function route(visit: Visit, door: FrontDoor): Promise<Response> {
  const [first, second, third] = visit.path;
  switch (first) {
    case 'ping':
      return ping(visit, door);
    case 'metrics':
      return metrics(visit, door);
    case 'predictions':
      return await predictions(visit, door);
    case 'explanations':
      return await explain(visit, door);
    case 'models':
      return await models(visit, door);
    case 'v1':
      if (second === 'models' && third !== undefined && visit.path.length === 3) return await instances(visit, door);
  }
  throw resourceNotFound();
}
