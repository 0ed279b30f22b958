import { describeValue, shorten } from '../../contract/describe-value.js';
import { asTabServeError, type ErrorCode } from '../../contract/errors.js';
import type { DescribedModel, ListedModel, RegisteredModel } from '../options.js';
import { badRequest, ServingError, type ErrorType } from '../serving-error.js';
import { checkMethod, resourceNotFound, type FrontDoor, type Visit } from './front-door.js';
import { readJson } from './request-body.js';
import { jsonResponse } from './responses.js';
import { toJson } from './result-body.js';

/** Lets requests over HTTP register, change and remove models. */
export interface ManagementOptions {
  /** Returns whether a model may be registered from this URL, as the request gives it. TorchServe has `allowed_urls`. */
  readonly allowsUrl: (url: string) => boolean;
}

/** What the routes call of a server. */
export interface Manager {
  register(model: string, options: Readonly<Record<string, unknown>>): Promise<RegisteredModel>;
  unregister(name: string, version?: string): Promise<void>;
  scale(name: string, workers: { readonly minWorkers: number; readonly maxWorkers: number }, version?: string): Promise<void>; // prettier-ignore
  setDefault(name: string, version: string): void;
  describe(name: string, version?: string): Promise<DescribedModel>;
  list(): readonly ListedModel[];
}

/** `/models…`: TorchServe's management API. Without the server's consent, it lists and describes only. */
export async function models(visit: Visit, door: FrontDoor): Promise<Response> {
  const { request, path } = visit;
  const [, name, version, verb] = path;
  if (request.method !== 'GET' && !door.management) checkMethod(visit, 'GET');
  if (path.length === 1) {
    checkMethod(visit, 'GET', 'POST');
    return request.method === 'GET' ? listModels(visit, door) : await registerModel(visit, door);
  }
  if (path.length > 4 || name === undefined || (verb !== undefined && verb !== 'set-default')) throw resourceNotFound();
  checkMethod(visit, ...(verb === undefined ? ['GET', 'PUT', 'DELETE'] : ['PUT']));
  if (verb !== undefined) return setDefault(door, name, version!);
  if (request.method === 'GET') return await describeModel(visit, door, name, version);
  return request.method === 'PUT' ? await scaleModel(visit, door, name, version) : await unregisterModel(door, name, version); // prettier-ignore
}

/** The most models of one page of the list. TorchServe's. */
const PAGE = 100;

/** The most workers of a version. */
const MOST_WORKERS = 1024;

function listModels({ query }: Visit, { server, registry }: FrontDoor): Response {
  const limit = numberOf(query, 'limit', PAGE);
  const from = numberOf(query, 'next_page_token', 0);
  const all = server.list();
  const to = from + (limit > PAGE ? PAGE : limit);
  const listed = all.slice(from, to).map(({ name }) => ({ modelName: name, modelUrl: registry.find(name).options.modelUrl })); // prettier-ignore
  return jsonResponse({ ...(to < all.length && { nextPageToken: String(to) }), models: listed });
}

async function describeModel(
  { query }: Visit,
  { server, registry }: FrontDoor,
  name: string,
  version?: string,
): Promise<Response> {
  // prettier-ignore
  const versions = version === 'all' ? registry.versions(name).map(({ options }) => options.version) : [version];
  const described = await Promise.all(versions.map((one) => server.describe(name, one)));
  return jsonResponse(described.map((one) => torchServeDescription(one, query.get('customized') === 'true')));
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

async function registerModel(visit: Visit, door: FrontDoor): Promise<Response> {
  const given = await registration(visit, door);
  const url = given['url'];
  if (typeof url !== 'string' || url === '') throw badRequest('Parameter url is required.');
  if (door.management?.allowsUrl(url) !== true)
    throw badRequest(
      `This server does not register models from ${shorten(url)}: it takes what its management.allowsUrl allows; tabserve serve takes archives below its working directory.`,
    );
  const options = { signal: visit.request.signal, ...registerOptions(given) };
  const { name, version } = await door.server.register(url, options).catch((error) => refuse(error, given));
  return jsonResponse({ status: `Model "${name}" Version: ${version} registered with ${await workersOf(door, name, version)} initial workers` }); // prettier-ignore
}

async function workersOf({ server }: FrontDoor, name: string, version: string): Promise<number> {
  return (await server.describe(name, version)).workers;
}

/** What a model that cannot be loaded, or cannot be loaded so, is refused with: the request asks for something wrong, and the server is well. */
const REFUSALS: Readonly<Partial<Record<ErrorCode, ErrorType>>> = {
  'model-not-found': 'DownloadArchiveException',
  network: 'DownloadArchiveException',
  'model-format': 'BadRequestException',
  'model-config': 'BadRequestException',
  'unknown-handler': 'BadRequestException',
  'invalid-input': 'BadRequestException',
};

/**
 * @param given what was sent: a message that begins with the name of an option begins with that of its parameter instead
 * @throws the error of a model that could not be loaded, with its status
 */
function refuse(error: unknown, given: Readonly<Record<string, unknown>> = {}): never {
  const { code, message } = asTabServeError(error);
  const type = REFUSALS[code];
  if (error instanceof ServingError || !type) throw error;
  const [option = ''] = /^\w+/.exec(message) ?? [];
  const sent = Object.keys(PARAMETERS).find((key) => given[key] !== undefined && PARAMETERS[key] === option) ?? option;
  throw new ServingError(code, 400, type, sent + message.slice(option.length), error);
}

/** TorchServe takes the parameters in the query, or as JSON. */
async function registration({ request, query }: Visit, door: FrontDoor): Promise<Readonly<Record<string, unknown>>> {
  if (!/^application\/json\b/i.test(request.headers.get('content-type') ?? '')) return Object.fromEntries(query);
  const body = await readJson(request, door);
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return { ...body };
  throw badRequest(`Expected a JSON object with "url", got ${describeValue(body)}.`);
}

const TEXTS = { model_name: 'name', model_version: 'version', handler: 'handler' };

/** TorchServe's parameters that have a meaning here, with the options that they set. */
const PARAMETERS: Readonly<Record<string, string>> = {
  ...TEXTS,
  batch_size: 'batchSize',
  max_batch_delay: 'maxBatchDelay',
  response_timeout: 'responseTimeout',
  startup_timeout: 'startupTimeout',
  initial_workers: 'minWorkers',
};

/** @throws `invalid-input` */
function registerOptions(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const options = Object.entries(PARAMETERS).flatMap(([key, option]) => {
    if (given[key] === undefined) return [];
    if (key in TEXTS) return [[option, given[key]]];
    const value = wholeNumber(key, given[key]);
    if (option === 'minWorkers') checkWorkers(key, value);
    // TorchServe registers a model without workers, and scales it later. Here, a model has at least one.
    return option === 'minWorkers' && value === 0 ? [] : [[option, value]];
  });
  return Object.fromEntries(options) as Readonly<Record<string, unknown>>;
}

function setDefault({ server }: FrontDoor, name: string, version: string): Response {
  server.setDefault(name, version);
  return jsonResponse({ status: `Default version successfully updated for model "${name}" to "${version}"` });
}

async function scaleModel({ query }: Visit, { server }: FrontDoor, name: string, version?: string): Promise<Response> {
  const minWorkers = numberOf(query, 'min_worker', 1);
  const maxWorkers = numberOf(query, 'max_worker', minWorkers);
  if (maxWorkers < minWorkers) throw badRequest('max_worker cannot be less than min_worker.');
  if (minWorkers === 0)
    throw badRequest('min_worker: a model has at least one worker. To free it, unregister the model.');
  checkWorkers(query.has('max_worker') ? 'max_worker' : 'min_worker', maxWorkers);
  await server.scale(name, { minWorkers, maxWorkers }, version).catch(refuse);
  const ofVersion = version === undefined ? '' : `, version: ${version}`;
  return jsonResponse({ status: `Workers scaled to ${minWorkers} for model: ${name}${ofVersion}` });
}

async function unregisterModel({ server }: FrontDoor, name: string, version?: string): Promise<Response> {
  await server.unregister(name, version);
  return jsonResponse({ status: `Model "${name}" unregistered` });
}

/** @throws `invalid-input` */
function checkWorkers(key: string, count: number): void {
  if (count > MOST_WORKERS) throw badRequest(`${key}: expected at most ${MOST_WORKERS}, got ${count}.`);
}

/** @throws `invalid-input` for what is not a whole number */
function numberOf(query: URLSearchParams, key: string, otherwise: number): number {
  const text = query.get(key);
  return text === null ? otherwise : wholeNumber(key, text);
}

/** Reads a number of the query, which is a text, or of a JSON body. @throws `invalid-input` */
function wholeNumber(key: string, given: unknown): number {
  const value = typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : given;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw badRequest(`${key}: expected a whole number, got ${describeValue(given)}.`);
}
