import { PredictionError } from '../../contract/errors.js';
import type { Params } from '../../contract/handler.js';
import type { OverHttp } from '../../contract/settings.js';
import { loadScript } from '../../shared/load-script.js';
import type { ServedRequestOptions } from '../served-client.js';
import type { ServedVersion } from '../served-version.js';
import { badRequest, unavailable } from '../serving-error.js';
import { withBlobs } from './base64.js';
import { Exchange } from './exchange.js';
import { checkMethod, resourceNotFound, type RouteContext, type Incoming } from './route.js';
import { partsWithin } from './parts-within.js';
import { queryParams } from './query-params.js';
import { isForm, readInput, readJson } from './request-body.js';
import { errorOf, errorResponse, jsonResponse, protocolErrorResponse } from './responses.js';
import { resultResponse, streamResponse } from './result-response.js';
import { rowOf, rowsOf, torchServeParams } from './torchserve-form.js';
import type { HttpRequest, HttpResponse } from './messages.js';

/** Says whether every default version can answer: TorchServe's health check. */
export function ping(incoming: Incoming, { registry }: RouteContext): HttpResponse {
  checkMethod(incoming, 'GET', 'HEAD', 'POST', 'PUT');
  const healthy = registry.defaults.every(({ hasFailed }) => !hasFailed);
  return jsonResponse({ status: healthy ? 'Healthy' : 'Unhealthy' }, healthy ? 200 : 500);
}

/** Answers `/predictions/{name}[/{version}[/{rest of the path, for the handler}]]`. */
export async function predictions(incoming: Incoming, context: RouteContext): Promise<HttpResponse> {
  const { request, path } = incoming;
  const served = findServed(incoming, context, path[1], path[2]);
  if (request.method === 'OPTIONS') return jsonResponse(openApi(served));
  checkTicket(served);
  const exchange = new Exchange(request, path.slice(3));
  const options = { ...predictionOptions(incoming, context, served), http: exchange };
  try {
    if (isOfSequence(request)) return await nextOfSequence(incoming, context, served, exchange, options);
    if (served.options.stream) {
      const { timeout: milliseconds, ...others } = options;
      return exchange.apply(
        await streamResponse(
          served,
          async (client, signal) => {
            const row = await onlyRow(incoming, context, served);
            return partsWithin(client.stream(row, { ...others, signal }), { milliseconds, clock: context.clock });
          },
          request.signal,
        ),
      );
    }
    return await served.run(async () => {
      const rows = rowsOf(served, await readInput(request, context), isForm(request));
      const results =
        rows.length > 1 ? await handleRows(served, rows, options) : await context.predict(served, rows[0], options);
      return exchange.apply(resultResponse(results, context.maxResponseSize));
    });
  } catch (error) {
    return errorResponse(exchange.applyToError(errorOf(error)));
  }
}

/** Answers several inputs of one request, as one batch. @throws the first error of a row */
async function handleRows(
  served: ServedVersion,
  rows: readonly unknown[],
  options: ServedRequestOptions,
): Promise<readonly unknown[]> {
  const results = await served.options.client.handle(rows, options);
  const failure = results.find((result) => result instanceof PredictionError);
  if (failure) throw failure as PredictionError;
  return results;
}

/** Returns whether a request belongs to a sequence: most do not, and need not load the script. */
function isOfSequence({ headers }: HttpRequest): boolean {
  return ['id', 'start', 'end'].some((name) => headers.has(`ts_request_sequence_${name}`));
}

async function nextOfSequence(
  incoming: Incoming,
  context: RouteContext,
  served: ServedVersion,
  exchange: Exchange,
  options: ServedRequestOptions,
): Promise<HttpResponse> {
  // Counted from the start, so that a version that is removed meanwhile is closed only when this has ended.
  const { id, isFirst, result } = await served.run(async () => {
    const { HttpSequences, sequenceOf } = await loadScript(() => import('./http-sequences.js'));
    const sequence = sequenceOf(incoming.request);
    if (!sequence) throw badRequest('ts_request_sequence_start: expected true, or a ts_request_sequence_id.');
    const sequences = (served.sequences ??= new HttpSequences(served, context.clock));
    return await sequences.predict(sequence, () => onlyRow(incoming, context, served), options);
  });
  const response = exchange.apply(resultResponse(result, context.maxResponseSize));
  response.headers.set('ts_request_sequence_id', id);
  if (isFirst) response.headers.set('ts_request_sequence_start', 'true');
  return response;
}

/** @throws `not-initialized` (503) if every worker is busy, and the model's config says `useJobTicket` */
function checkTicket({ active, options: { name, description } }: ServedVersion): void {
  const { config, workers } = description;
  if (config['useJobTicket'] === true && active >= workers * config.batchSize)
    throw unavailable(`Model "${name}" has no worker that is free (useJobTicket).`);
}

/** Answers `/explanations/{name}[/{version}]`. */
export async function explain(incoming: Incoming, context: RouteContext): Promise<HttpResponse> {
  const served = findServed(incoming, context, incoming.path[1], incoming.path[2]);
  return resultResponse(
    await served.run(async (client) =>
      client.explain(await onlyRow(incoming, context, served), optionsOf(incoming, context, served)),
    ),
    context.maxResponseSize,
  );
}

/** Answers `/v1/models/{name}:predict` and `:explain`: KServe's protocol v1, with its form of errors. Never rejects. */
export async function instances(incoming: Incoming, context: RouteContext): Promise<HttpResponse> {
  try {
    return await answerInstances(incoming, context);
  } catch (error) {
    return protocolErrorResponse(errorOf(error));
  }
}

async function answerInstances(incoming: Incoming, context: RouteContext): Promise<HttpResponse> {
  const [, name, verb] = /^(.*):(predict|explain)$/.exec(incoming.path[2]!) ?? [];
  if (name === undefined) throw resourceNotFound();
  checkMethod(incoming, 'POST', 'PUT');
  const served = context.registry.find(name);
  return await served.run(async (client) => {
    const rows = (await readInstances(incoming, context)).map((row) => rowOf(served, row));
    if (verb === 'explain') {
      const options = optionsOf(incoming, context, served);
      const explanations = await Promise.all(rows.map((row) => client.explain(row, options)));
      return resultResponse({ explanations }, context.maxResponseSize);
    }
    const results = await handleRows(served, rows, predictionOptions(incoming, context, served));
    return resultResponse({ predictions: results }, context.maxResponseSize);
  });
}

/** The maximum number of inputs of one request: they run as one batch. */
const MAX_INSTANCES = 1000;

async function readInstances({ request }: Incoming, context: RouteContext): Promise<readonly unknown[]> {
  const body = withBlobs(await readJson(request, context), 'The body');
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

/** @throws `invalid-input` if the request has several inputs */
async function onlyRow({ request }: Incoming, context: RouteContext, served: ServedVersion): Promise<unknown> {
  const rows = rowsOf(served, await readInput(request, context), isForm(request));
  if (rows.length > 1) throw badRequest(`Expected one input, got ${rows.length}.`);
  return rows[0];
}

interface Options {
  readonly signal: AbortSignal;
  readonly timeout: number;
  readonly params: Params;
}

/** @throws `invalid-input` for params that are no object */
function optionsOf(
  { request: { signal }, query }: Incoming,
  { timeout }: RouteContext,
  { options: { description } }: ServedVersion,
): Options {
  const { clientTimeoutInMills: own = 0 } = description.config as Partial<OverHttp>;
  return { signal, timeout: own > 0 ? Math.min(own, timeout) : timeout, params: queryParams(query) };
}

/** Returns the same with the params that give the answer TorchServe's form, unless the request chooses another. */
function predictionOptions(incoming: Incoming, context: RouteContext, served: ServedVersion): Options {
  const options = optionsOf(incoming, context, served);
  return { ...options, params: { ...torchServeParams(served), ...options.params } };
}

/** Returns what TorchServe answers to OPTIONS: an OpenAPI description of the model's path. */
function openApi({ options: { name, version } }: ServedVersion): unknown {
  const operation = {
    summary: `Predicts one input with version ${version} of ${name}.`,
    operationId: name,
    parameters: [{ name: 'params', in: 'query', required: false, schema: { type: 'string' } }],
    requestBody: { required: true, content: { '*/*': { schema: { type: 'string', format: 'binary' } } } },
    responses: { 200: { description: 'OK', content: { 'application/json': { schema: {} } } } },
  };
  return {
    openapi: '3.0.1',
    info: { title: name, version },
    paths: { [`/predictions/${encodeURIComponent(name)}`]: { post: operation } },
  };
}
