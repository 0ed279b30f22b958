import { shorten } from '../../contract/describe-value.js';
import type { Progress } from '../../contract/archive.js';
import { asTabServeError } from '../../contract/errors.js';
import type { DescribedModel, FailedModel, ListedModel, RegisteredModel } from '../options.js';
import { badRequest } from '../serving-error.js';
import { checkMethod, resourceNotFound, type RouteContext, type Incoming } from './route.js';
import { checkWorkers, numberOf, refuse, registerOptions, readRegistration } from './management-parameters.js';
import { jsonResponse } from './responses.js';
import { toJson } from './result-response.js';
import type { HttpResponse } from './messages.js';

/** Lets requests over HTTP register, change and remove models. */
export interface ManagementOptions {
  /**
   * Returns whether a model may be registered from this URL, as the request gives it. TorchServe has `allowed_urls`.
   */
  readonly allowsUrl: (url: string) => boolean;
}

/** What the routes call of a server. */
export interface Manager {
  register(model: string, options: Readonly<Record<string, unknown>>): Promise<RegisteredModel>;
  unregister(name: string, version?: string): Promise<void>;
  scale(
    name: string,
    workers: { readonly minWorkers: number; readonly maxWorkers: number },
    version?: string,
  ): Promise<void>;
  setDefault(name: string, version: string): void;
  describe(name: string, version?: string): Promise<DescribedModel>;
  list(): readonly ListedModel[];
}

/** Answers `/models…`: TorchServe's management API. Without the server's consent, it only lists and describes. */
export async function models(incoming: Incoming, context: RouteContext): Promise<HttpResponse> {
  const { request, path } = incoming;
  const [, name, version, verb] = path;
  if (request.method !== 'GET' && !context.management) checkMethod(incoming, 'GET');
  if (path.length === 1) {
    checkMethod(incoming, 'GET', 'POST');
    return request.method === 'GET' ? listModels(incoming, context) : await registerFromHttp(incoming, context);
  }
  if (path.length > 4 || name === undefined || (verb !== undefined && verb !== 'set-default')) throw resourceNotFound();
  checkMethod(incoming, ...(verb === undefined ? ['GET', 'PUT', 'DELETE'] : ['PUT']));
  if (verb !== undefined) return setDefault(context, name, version!);
  if (request.method === 'GET') return await describeModel(incoming, context, name, version);
  return request.method === 'PUT'
    ? await scaleModel(incoming, context, name, version)
    : await unregisterModel(context, name, version);
}

/** The maximum number of models of one page of the list. TorchServe's. */
const MAX_PAGE_SIZE = 100;

function listModels({ query }: Incoming, { server, registry }: RouteContext): HttpResponse {
  const limit = numberOf(query, 'limit', MAX_PAGE_SIZE);
  const from = numberOf(query, 'next_page_token', 0);
  const all = server.list();
  const to = from + (limit > MAX_PAGE_SIZE ? MAX_PAGE_SIZE : limit);
  const listed = all.slice(from, to).map(({ name }) => {
    const failed = registry.failure(name);
    return { modelName: name, modelUrl: failed ? failed.location.model : registry.find(name).modelUrl };
  });
  return jsonResponse({ ...(to < all.length && { nextPageToken: String(to) }), models: listed });
}

async function describeModel(
  { query }: Incoming,
  { server, registry }: RouteContext,
  name: string,
  version?: string,
): Promise<HttpResponse> {
  const failed = registry.failure(name, version);
  if (failed) return jsonResponse([failedDescription(failed)]);
  const versions = version === 'all' ? registry.versions(name).map(({ options }) => options.version) : [version];
  const described = await Promise.all(versions.map((one) => server.describe(name, one)));
  return jsonResponse(described.map((one) => torchServeDescription(one, query.get('customized') === 'true')));
}

/** Describes a model that could not be loaded. TorchServe lists it without workers, and says why only in its log. */
function failedDescription({ location, error }: FailedModel): unknown {
  const { name, version, model } = location;
  return { modelName: name, modelVersion: version, modelUrl: model, workers: [], error: error.message };
}

/** Returns a description with TorchServe's keys: those that mean something here. */
function torchServeDescription(described: DescribedModel, customized: boolean): unknown {
  const { name, version, modelUrl, backend, config, workers, loadedAt, jobQueueStatus } = described;
  const { minWorkers, maxWorkers, batchSize, maxBatchDelay, responseTimeout, startupTimeout } = config;
  return {
    modelName: name,
    modelVersion: version,
    modelUrl,
    engine: backend.engine,
    runtime: 'javascript',
    minWorkers,
    maxWorkers,
    batchSize,
    maxBatchDelay,
    responseTimeout,
    startupTimeout,
    deviceType: backend.name,
    loadedAtStartup: false,
    workers: Array.from({ length: workers }, (_, index) => ({
      id: String(index),
      startTime: loadedAt.toISOString(),
      status: 'READY',
      gpu: backend.name === 'webgpu' || backend.name === 'webgl',
    })),
    jobQueueStatus,
    ...(customized && { customizedMetadata: toJson(described.customizedMetadata) ?? null }),
  };
}

async function registerFromHttp(incoming: Incoming, context: RouteContext): Promise<HttpResponse> {
  const given = await readRegistration(incoming, context);
  if (isInBackground(given['synchronous'])) {
    await untilFound((onProgress) => registerModel(context, given, { onProgress }));
    return processing();
  }
  const { name, version } = await registerModel(context, given, { signal: incoming.request.signal });
  return jsonResponse({
    status: `Model "${name}" Version: ${version} registered with ${await workersOf(context, name, version)} initial workers`,
  });
}

/** Registers a model as a request says. @throws what `readRegister` and `register` throw */
export async function registerModel(
  context: RouteContext,
  given: Readonly<Record<string, unknown>>,
  own: { readonly signal?: AbortSignal; readonly onProgress?: (progress: Progress) => void },
): Promise<RegisteredModel> {
  const { url, options } = readRegister(context, given);
  return await context.server.register(url, { ...own, ...options }).catch((error) => refuse(error, given));
}

/**
 * Begins to register a model. Resolves when its archive is there, as TorchServe does: its start continues, and an error
 * of that is logged. A `load` that reports no progress is awaited completely.
 * @throws what `register` throws until then
 */
async function untilFound(register: (onProgress: (progress: Progress) => void) => Promise<unknown>): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    let isFound = false;
    const found = (): void => {
      isFound = true;
      resolve();
    };
    register(({ file, phase }) => {
      // An engine is compiled while the archive is still being downloaded.
      if (phase === 'warm-up' || (phase === 'compile' && !file.endsWith('.wasm'))) found();
    }).then(found, (error: unknown) => (isFound ? warn(error) : reject(error)));
  });
}

/**
 * Returns what a request registers. @throws `invalid-input` for a URL that is not allowed, and for a wrong parameter
 */
function readRegister(
  { management }: RouteContext,
  given: Readonly<Record<string, unknown>>,
): { readonly url: string; readonly options: Readonly<Record<string, unknown>> } {
  const url = given['url'];
  if (typeof url !== 'string' || url === '') throw badRequest('Parameter url is required.');
  if (management?.allowsUrl(url) !== true)
    throw badRequest(
      `This server does not register models from ${shorten(url)}: it takes what its management.allowsUrl allows; tabserve serve takes archives below its working directory.`,
    );
  return { url, options: registerOptions(given) };
}

/** @throws `invalid-input` for what is neither true nor false */
function isInBackground(synchronous: unknown): boolean {
  const text = String(synchronous ?? 'true').toLowerCase();
  if (text !== 'true' && text !== 'false') throw badRequest('synchronous: expected true or false.');
  return text === 'false';
}

/** Returns TorchServe's answer while the work continues in the background. */
function processing(): HttpResponse {
  return jsonResponse({ status: 'Processing worker updates...' }, 202);
}

/** Logs an error of work that nobody waits for any more. */
function warn(error: unknown): void {
  console.warn(`tabserve: ${asTabServeError(error).message}`);
}

async function workersOf({ server }: RouteContext, name: string, version: string): Promise<number> {
  return (await server.describe(name, version)).workers;
}

function setDefault({ server }: RouteContext, name: string, version: string): HttpResponse {
  server.setDefault(name, version);
  return jsonResponse({ status: `Default version successfully updated for model "${name}" to "${version}"` });
}

async function scaleModel(
  { query }: Incoming,
  { server, registry }: RouteContext,
  name: string,
  version?: string,
): Promise<HttpResponse> {
  registry.find(name, version);
  const minWorkers = numberOf(query, 'min_worker', 1);
  const maxWorkers = numberOf(query, 'max_worker', minWorkers);
  if (maxWorkers < minWorkers) throw badRequest('max_worker cannot be less than min_worker.');
  if (minWorkers === 0)
    throw badRequest('min_worker: a model has at least one worker. To free it, unregister the model.');
  checkWorkers(query.has('max_worker') ? 'max_worker' : 'min_worker', maxWorkers);
  const waits = !isInBackground(query.get('synchronous'));
  const scaling = server.scale(name, { minWorkers, maxWorkers }, version).catch(refuse);
  if (!waits) {
    scaling.catch(warn);
    return processing();
  }
  await scaling;
  const ofVersion = version === undefined ? '' : `, version: ${version}`;
  return jsonResponse({ status: `Workers scaled to ${minWorkers} for model: ${name}${ofVersion}` });
}

async function unregisterModel({ server }: RouteContext, name: string, version?: string): Promise<HttpResponse> {
  await server.unregister(name, version);
  return jsonResponse({ status: `Model "${name}" unregistered` });
}
