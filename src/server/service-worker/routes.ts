import { POLICIES, type Policy } from './protocol.js';

/** What a request asks for. */
export interface Route {
  /** The path and query after the base, beginning with a slash. */
  readonly path: string;
  /** The model that the path names, and its version; undefined for `/ping` and others that name none. */
  readonly model?: string | undefined;
  readonly version?: string | undefined;
  readonly policy: Policy;
}

/** The paths whose body names the model: OpenAI's API. */
const NAMED_IN_BODY = new Set([
  'v1/audio/speech',
  'v1/audio/transcriptions',
  'v1/chat/completions',
  'v1/completions',
  'v1/embeddings',
  'v1/rerank',
  'v1/responses',
]);

/** Those of it that no model answers here. What names a `device-only` model does not leave the device there either. */
const UNANSWERED = new Set([
  'v1/audio/translations',
  'v1/images/edits',
  'v1/images/generations',
  'v1/images/variations',
  'v1/moderations',
  'v1/responses/compact',
  'v1/responses/input_tokens',
]);

/** A path whose body names the model. */
export interface BodyRoute {
  /** The path and query after the base, beginning with a slash. */
  readonly path: string;
  /** Whether models answer it here. */
  readonly isAnswered: boolean;
}

/**
 * Returns the path of a request whose body names the model; undefined for another request.
 *
 * @param base ends with a slash
 */
export function routeOfBody({ url, method }: Pick<Request, 'url' | 'method'>, base: URL): BodyRoute | undefined {
  const { origin, pathname, search } = new URL(url);
  if (method !== 'POST' || origin !== base.origin || !pathname.startsWith(base.pathname)) return undefined;
  const path = decoded(pathname.slice(base.pathname.length)).split('/').filter(Boolean).join('/');
  const isAnswered = NAMED_IN_BODY.has(path);
  return isAnswered || UNANSWERED.has(path) ? { path: `/${path}${search}`, isAnswered } : undefined;
}

/** The paths that name no model, in TorchServe's inference API, OpenAI's and the Open Inference Protocol. */
const OF_THE_SERVER = new Set(['ping', 'models', 'metrics', 'v1/models', 'v2', 'v2/health/live', 'v2/health/ready']);

/**
 * Returns what a request asks for, or undefined if it is not for a model of `models`. Every path that names a model is
 * a request to it, also an unknown path, so that no request to a `device-only` model reaches the network.
 *
 * @param base ends with a slash
 */
export function routeOf(
  { url, method, mode }: Pick<Request, 'url' | 'method' | 'mode'>,
  base: URL,
  models: Readonly<Record<string, Policy>>,
): Route | undefined {
  const { origin, pathname, search } = new URL(url);
  if (origin !== base.origin || !pathname.startsWith(base.pathname)) return undefined;
  const afterBase = pathname.slice(base.pathname.length);
  const path = `/${afterBase.split('/').filter(Boolean).join('/')}${search}`;
  // As TorchServe reads a path: decoded, then split.
  const segments = decoded(afterBase).split('/').filter(Boolean);
  const isNavigation = mode === 'navigate';
  const named = namedIn(segments, isNavigation && method === 'GET');
  if (named) {
    const policy = named.model !== undefined && Object.hasOwn(models, named.model) && models[named.model];
    return policy ? { path, ...named, policy } : undefined;
  }
  const isRead = (method === 'GET' || method === 'HEAD') && !isNavigation;
  // A response that was stored is where it was made.
  const isStored = (isRead || method === 'DELETE') && /^v1\/responses\/[^/]+$/.test(segments.join('/'));
  return isStored || (isRead && OF_THE_SERVER.has(segments.join('/'))) ? { path, policy: overall(models) } : undefined;
}

/** The segments that the model's name follows in TorchServe's paths. */
const BEFORE_NAMES = new Set(['predictions', 'explanations', 'wfpredict']);

/**
 * Returns the model that a path names, and its version; undefined for a path that names none.
 *
 * @param isPage whether the path may be that of a page of the app
 */
function namedIn(
  [first, second, third, ...rest]: readonly string[],
  isPage: boolean,
): { readonly model: string | undefined; readonly version?: string | undefined } | undefined {
  if (BEFORE_NAMES.has(first!) && second !== undefined) return { model: second, version: third };
  // TorchServe's older paths: `/models/digits/invoke`, `/digits/predict`.
  if (first === 'models' && third === 'invoke') return { model: second };
  if (second === 'predict' && !isPage) return { model: first };
  if (second !== 'models' || third === undefined) return undefined;
  // KServe's first protocol: `/v1/models/digits:predict`; OpenAI's description of a model.
  if (first === 'v1') return { model: third.replace(/:\w+$/, '') };
  if (first !== 'v2') return undefined;
  return { model: third, version: rest[0] === 'versions' ? rest[1] : undefined };
}

/** Decodes a path, as far as it can be decoded. */
function decoded(path: string): string {
  return path.replace(/(?:%[\da-f]{2})+/gi, (bytes) => {
    try {
      return decodeURIComponent(bytes);
    } catch {
      return bytes;
    }
  });
}

/**
 * Returns how the requests that name no model are answered: the server is asked unless all models are `device-only`,
 * and first only if all are `server-first`.
 */
function overall(models: Readonly<Record<string, Policy>>): Policy {
  const used = new Set(Object.values(models));
  return used.size === 1 ? [...used][0]! : POLICIES[0];
}
