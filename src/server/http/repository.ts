import { isPlainObject } from '../../shared/is-plain-object.js';
import { badRequest } from '../serving-error.js';
import { checkMethod, resourceNotFound, type Incoming, type RouteContext } from './route.js';
import { registerModel } from './management.js';
import { readJson } from './request-body.js';
import { emptyResponse, jsonResponse } from './responses.js';
import type { HttpResponse } from './messages.js';

/**
 * Answers `/v2/repository…`: the Open Inference Protocol's model repository extension. Without the server's consent to
 * management, it only lists.
 */
export async function repository(incoming: Incoming, context: RouteContext): Promise<HttpResponse> {
  const [, , area, name, verb, ...more] = incoming.path;
  checkMethod(incoming, 'POST');
  if (area === 'index' && name === undefined) return await index(incoming, context);
  if (area !== 'models' || name === undefined || more.length > 0) throw resourceNotFound();
  if (verb !== 'load' && verb !== 'unload') throw resourceNotFound();
  if (!context.management) throw badRequest('This server loads and unloads no models: it has no management API.');
  if (verb === 'load') {
    const { signal } = incoming.request;
    await registerModel(context, { url: name, model_name: name }, { signal });
  } else await unload(name, context);
  return emptyResponse();
}

/** Lists the versions. `{ "ready": true }` leaves out those that take no requests. */
async function index({ request }: Incoming, context: RouteContext): Promise<HttpResponse> {
  const body = await readJson(request, context, {});
  if (!isPlainObject(body)) throw badRequest('The body must be a JSON object, such as { "ready": true }.');
  const rows = context.registry.all
    .filter(({ hasFailed }) => body['ready'] !== true || !hasFailed)
    .map(({ options: { name, version }, hasFailed }) => ({
      name,
      version,
      state: hasFailed ? 'UNAVAILABLE' : 'READY',
      reason: hasFailed ? 'Its worker was lost.' : '',
    }));
  return jsonResponse(rows);
}

/** Removes every version of a model, its default last. */
async function unload(name: string, { registry, server }: RouteContext): Promise<void> {
  const last = registry.failure(name)?.location.version ?? registry.find(name).options.version;
  const others = registry.versions(name).filter(({ options }) => options.version !== last);
  for (const { options } of others) await server.unregister(name, options.version);
  await server.unregister(name, last);
}
