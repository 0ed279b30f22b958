import { POLICIES, type Policy } from './protocol.js';

/** What a request asks for. */
export interface Route {
  /** The path and query behind the base, beginning with a slash. */
  readonly path: string;
  /** The model that the path names, and its version; undefined for `/ping` and others that name none. */
  readonly model?: string | undefined;
  readonly version?: string | undefined;
  readonly policy: Policy;
}

/** What names no model: TorchServe's inference API and the Open Inference Protocol. */
const OF_THE_SERVER = new Set(['ping', 'models', 'metrics', 'v2', 'v2/health/live', 'v2/health/ready']);

/**
 * Returns what a request asks for, or undefined if it is not for a model of `models`. Whatever names a model is its request, known path or not, so that nothing for a
 * `device-only` model gets past.
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
  const segments = pathname.slice(base.pathname.length).split('/').filter(Boolean);
  const path = `/${segments.join('/')}${search}`;
  const named = namedIn(segments);
  if (named) {
    const policy = named.model !== undefined && Object.hasOwn(models, named.model) && models[named.model];
    return policy ? { path, ...named, policy } : undefined;
  }
  const isRead = (method === 'GET' || method === 'HEAD') && mode !== 'navigate';
  return isRead && OF_THE_SERVER.has(segments.join('/')) ? { path, policy: overall(models) } : undefined;
}

/** Returns the model that a path names, and its version; undefined for a path that names none. */
function namedIn([first, second, ...rest]: readonly string[]):
  | { readonly model: string | undefined; readonly version?: string | undefined }
  | undefined {
  if ((first === 'predictions' || first === 'explanations') && second !== undefined)
    return { model: decoded(second), version: decoded(rest[0]) };
  if (second !== 'models' || rest.length === 0) return undefined;
  // KServe's first protocol: `/v1/models/digits:predict`.
  if (first === 'v1') return { model: decoded(rest[0])?.replace(/:\w+$/, '') };
  if (first !== 'v2') return undefined;
  return { model: decoded(rest[0]), version: rest[1] === 'versions' ? decoded(rest[2]) : undefined };
}

/** Decodes a segment of a path; undefined if it is malformed. */
function decoded(segment: string | undefined): string | undefined {
  try {
    return segment === undefined ? undefined : decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/** Returns how the requests that name no model are answered: the server is asked unless all models are `device-only`, and first only if all are `server-first`. */
function overall(models: Readonly<Record<string, Policy>>): Policy {
  const used = new Set(Object.values(models));
  return used.size === 1 ? [...used][0]! : POLICIES[0];
}
