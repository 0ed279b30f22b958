import { describeValue } from '../../contract/describe-value.js';
import { asTabServeError, type ErrorCode } from '../../contract/errors.js';
import { badRequest, ServingError, type ErrorType } from '../serving-error.js';
import type { RouteContext, Incoming } from './route.js';
import { readJson } from './request-body.js';

/** The maximum number of workers of a version. */
const MAX_WORKERS = 1024;

/**
 * The error codes of a model that cannot be loaded, or not as requested: the request is wrong, and the server works.
 */
const REFUSALS: Readonly<Partial<Record<ErrorCode, readonly [status: number, type: ErrorType]>>> = {
  'model-not-found': [404, 'ModelNotFoundException'],
  network: [400, 'DownloadArchiveException'],
  'model-format': [400, 'BadRequestException'],
  'model-config': [400, 'BadRequestException'],
  'unknown-handler': [400, 'BadRequestException'],
  'invalid-input': [400, 'BadRequestException'],
};

/**
 * Throws the error of a model that could not be loaded, with TorchServe's status.
 * @param given what was sent: a message that begins with the name of an option begins with that of its parameter
 *   instead
 */
export function refuse(error: unknown, given: Readonly<Record<string, unknown>> = {}): never {
  const { code, message } = asTabServeError(error);
  const refusal = REFUSALS[code];
  if (error instanceof ServingError || !refusal) throw error;
  const [status, type] = refusal;
  const [option = ''] = /^\w+/.exec(message) ?? [];
  const sent = Object.keys(PARAMETERS).find((key) => given[key] !== undefined && PARAMETERS[key] === option) ?? option;
  throw new ServingError(code, status, type, sent + message.slice(option.length), error);
}

/** Reads the parameters of a registration: TorchServe takes them in the query, or as JSON. @throws `invalid-input` */
export async function readRegistration(
  { request, query }: Incoming,
  context: RouteContext,
): Promise<Readonly<Record<string, unknown>>> {
  if (!/^application\/json\b/i.test(request.headers.get('content-type') ?? '')) return Object.fromEntries(query);
  const body = await readJson(request, context);
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

/** Returns the options of `register` for what was sent. @throws `invalid-input` */
export function registerOptions(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
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

/** @throws `invalid-input` */
export function checkWorkers(key: string, count: number): void {
  if (count > MAX_WORKERS) throw badRequest(`${key}: expected at most ${MAX_WORKERS}, got ${count}.`);
}

/** Reads a number of the query. @throws `invalid-input` for what is not a whole number */
export function numberOf(query: URLSearchParams, key: string, otherwise: number): number {
  const text = query.get(key);
  return text === null ? otherwise : wholeNumber(key, text);
}

/** Reads a number of the query, which is a text, or of a JSON body. @throws `invalid-input` */
function wholeNumber(key: string, given: unknown): number {
  const value = typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : given;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw badRequest(`${key}: expected a whole number, got ${describeValue(given)}.`);
}
