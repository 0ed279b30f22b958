import { PredictionError } from '../../contract/errors.js';
import type { Params } from '../../contract/handler.js';
import type { ServedVersion } from '../served-version.js';
import { badRequest } from '../serving-error.js';
import { checkMethod, resourceNotFound, type RouteContext, type Incoming } from './route.js';
import { readInput, readJson } from './request-body.js';
import { jsonResponse } from './responses.js';
import { resultResponse, streamResponse, toJson } from './result-response.js';
import { rowOf, torchServeParams } from './torchserve-form.js';

/** Says whether every default version can answer: TorchServe's health check. */
export function ping(incoming: Incoming, { registry }: RouteContext): Response {
  checkMethod(incoming, 'GET', 'HEAD', 'POST', 'PUT');
  const healthy = registry.defaults.every(({ hasFailed }) => !hasFailed);
  return jsonResponse({ status: healthy ? 'Healthy' : 'Unhealthy' }, healthy ? 200 : 500);
}

/** `/predictions/{name}[/{version}]`. */
export async function predictions(incoming: Incoming, context: RouteContext): Promise<Response> {
  const served = findServed(incoming, context, incoming.path[1], incoming.path[2]);
  if (incoming.request.method === 'OPTIONS') return jsonResponse(openApi(served));
  const options = { ...optionsOf(incoming, context), params: torchServeParams(served) };
  if (served.options.stream)
    return await streamResponse(
      served,
      (client, signal) =>
        predictionInput(incoming, context, served).then((input) => client.stream(input, { ...options, signal })),
      incoming.request.signal,
    );
  return resultResponse(
    await served.run(async () => context.predict(served, await predictionInput(incoming, context, served), options)),
  );
}

/** `/explanations/{name}[/{version}]`. */
export async function explain(incoming: Incoming, context: RouteContext): Promise<Response> {
  const served = findServed(incoming, context, incoming.path[1], incoming.path[2]);
  return resultResponse(
    await served.run(async (client) =>
      client.explain(await predictionInput(incoming, context, served), optionsOf(incoming, context)),
    ),
  );
}

/** `/v1/models/{name}:predict` and `:explain`: KServe's protocol v1, of which TorchServe reads `instances`. */
export async function instances(incoming: Incoming, context: RouteContext): Promise<Response> {
  const [, name, verb] = /^(.*):(predict|explain)$/.exec(incoming.path[2]!) ?? [];
  if (name === undefined) throw resourceNotFound();
  checkMethod(incoming, 'POST', 'PUT');
  const served = context.registry.find(name);
  return await served.run(async (client) => {
    const rows = (await readInstances(incoming, context)).map((row) => rowOf(served, row));
    const options = optionsOf(incoming, context);
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
const MAX_INSTANCES = 1000;

async function readInstances({ request }: Incoming, context: RouteContext): Promise<readonly unknown[]> {
  const body = await readJson(request, context);
  const rows: unknown = typeof body === 'object' && body !== null && 'instances' in body ? body.instances : undefined;
  if (Array.isArray(rows) && rows.length > MAX_INSTANCES)
    throw badRequest(`"instances" has ${rows.length} inputs, expected at most ${MAX_INSTANCES}.`);
  if (Array.isArray(rows) && rows.length > 0) return rows;
  throw badRequest('The body must be a JSON object whose "instances" is a list of at least one input.');
}

/** @throws `model-not-found`, `not-initialized`, `invalid-input` for a path that is too short, or a wrong method */
function findServed(
  incoming: Incoming,
  { registry }: RouteContext,
  name: string | undefined,
  version?: string,
): ServedVersion {
  if (name === undefined || name === '') throw resourceNotFound();
  checkMethod(incoming, 'POST', 'PUT', 'GET', 'OPTIONS');
  return registry.find(name, version);
}

async function predictionInput({ request }: Incoming, context: RouteContext, served: ServedVersion): Promise<unknown> {
  return rowOf(served, await readInput(request, context));
}

function optionsOf(
  { request: { signal } }: Incoming,
  { timeout }: RouteContext,
): { signal: AbortSignal; timeout: number; params?: Params } {
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
