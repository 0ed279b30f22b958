import { PredictionError } from '../../contract/errors.js';
import type { Params } from '../../contract/handler.js';
import type { ServedVersion } from '../served-version.js';
import { badRequest } from '../serving-error.js';
import { checkMethod, resourceNotFound, type FrontDoor, type Visit } from './front-door.js';
import { readInput, readJson } from './request-body.js';
import { jsonResponse } from './responses.js';
import { resultResponse, toJson } from './result-body.js';
import { streamResponse } from './stream-response.js';
import { rowOf, torchServeParams } from './torchserve-form.js';

/** Says whether every default version can answer: TorchServe's health check. */
export function ping(visit: Visit, { registry }: FrontDoor): Response {
  checkMethod(visit, 'GET', 'HEAD', 'POST', 'PUT');
  const healthy = registry.defaults.every(({ hasFailed }) => !hasFailed);
  return jsonResponse({ status: healthy ? 'Healthy' : 'Unhealthy' }, healthy ? 200 : 500);
}

/** `/predictions/{name}[/{version}]`. */
export async function predictions(visit: Visit, door: FrontDoor): Promise<Response> {
  const served = findServed(visit, door, visit.path[1], visit.path[2]);
  if (visit.request.method === 'OPTIONS') return jsonResponse(openApi(served));
  const options = { ...optionsOf(visit, door), params: torchServeParams(served) };
  if (served.options.stream)
    return await streamResponse(served, (client, signal) => predictionInput(visit, door, served).then((input) => client.stream(input, { ...options, signal })), visit.request.signal); // prettier-ignore
  return resultResponse(
    await served.run(async () => door.predict(served, await predictionInput(visit, door, served), options)),
  );
}

/** `/explanations/{name}[/{version}]`. */
export async function explain(visit: Visit, door: FrontDoor): Promise<Response> {
  const served = findServed(visit, door, visit.path[1], visit.path[2]);
  return resultResponse(
    await served.run(async (client) =>
      client.explain(await predictionInput(visit, door, served), optionsOf(visit, door)),
    ),
  );
}

/** `/v1/models/{name}:predict` and `:explain`: KServe's protocol v1, of which TorchServe reads `instances`. */
export async function instances(visit: Visit, door: FrontDoor): Promise<Response> {
  const [, name, verb] = /^(.*):(predict|explain)$/.exec(visit.path[2]!) ?? [];
  if (name === undefined) throw resourceNotFound();
  checkMethod(visit, 'POST', 'PUT');
  const served = door.registry.find(name);
  return await served.run(async (client) => {
    const rows = (await readInstances(visit, door)).map((row) => rowOf(served, row));
    const options = optionsOf(visit, door);
    if (verb === 'explain') {
      const explanations = await Promise.all(rows.map((row) => client.explain(row, options)));
      return jsonResponse({ explanations: toJson(explanations) });
    }
    const results = await client.handle(rows, { ...options, params: torchServeParams(served) });
    const failure = results.find((result) => result instanceof PredictionError);
    if (failure) throw failure as PredictionError;
    return jsonResponse({ predictions: toJson(results) });
  });
}

/** The most inputs of one request: they run as one batch. */
const MOST_INSTANCES = 1000;

async function readInstances({ request }: Visit, door: FrontDoor): Promise<readonly unknown[]> {
  const body = await readJson(request, door);
  const rows: unknown = typeof body === 'object' && body !== null && 'instances' in body ? body.instances : undefined;
  if (Array.isArray(rows) && rows.length > MOST_INSTANCES)
    throw badRequest(`"instances" has ${rows.length} inputs, expected at most ${MOST_INSTANCES}.`);
  if (Array.isArray(rows) && rows.length > 0) return rows;
  throw badRequest('The body must be a JSON object whose "instances" is a list of at least one input.');
}

/** @throws `model-not-found`, `not-initialized`, `invalid-input` for a path that is too short, or a wrong method */
function findServed(visit: Visit, { registry }: FrontDoor, name: string | undefined, version?: string): ServedVersion {
  if (name === undefined || name === '') throw resourceNotFound();
  checkMethod(visit, 'POST', 'PUT', 'GET', 'OPTIONS');
  return registry.find(name, version);
}

async function predictionInput({ request }: Visit, door: FrontDoor, served: ServedVersion): Promise<unknown> {
  return rowOf(served, await readInput(request, door));
}

function optionsOf(
  { request: { signal } }: Visit,
  { timeout }: FrontDoor,
): { signal: AbortSignal; timeout: number; params?: Params } {
  // prettier-ignore
  return { signal, timeout };
}

/** Returns what TorchServe answers to OPTIONS: an OpenAPI description of the model's path. */
function openApi({ options: { name, version } }: ServedVersion): unknown {
  const operation = {
    summary: `Predicts one input with version ${version} of ${name}.`,
    operationId: name,
    parameters: [],
    requestBody: { required: true, content: { '*/*': { schema: { type: 'string', format: 'binary' } } } },
    responses: { 200: { description: 'OK', content: { 'application/json': { schema: {} } } } },
  };
  return {
    openapi: '3.0.1',
    info: { title: name, version },
    paths: { [`/predictions/${encodeURIComponent(name)}`]: { post: operation } },
  };
}
