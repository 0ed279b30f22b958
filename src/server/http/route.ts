import type { Clock } from '../../shared/clock.js';
import type { Registry } from '../registry.js';
import type { ServedRequestOptions } from '../served-client.js';
import type { ServedVersion } from '../served-version.js';
import { ServingError } from '../serving-error.js';
import type { ManagementOptions, Manager } from './management.js';
import type { StatusCounts } from './status-counts.js';
import type { HttpRequest } from './messages.js';

/** What the routes need of the server. */
export interface RouteContext {
  readonly registry: Registry;
  readonly server: Manager;
  /** Predicts one input. The model's shadow follows it. */
  readonly predict: (served: ServedVersion, input: unknown, options: ServedRequestOptions) => Promise<unknown>;
  readonly clock: Clock;
  /** Aborts when the server is disposed of. */
  readonly disposed: AbortSignal;
  /** Bytes. */
  readonly maxRequestSize: number;
  /** Bytes. */
  readonly maxResponseSize: number;
  /** Milliseconds. */
  readonly timeout: number;
  readonly management: ManagementOptions | undefined;
  /** Counts the answers. */
  readonly statuses: StatusCounts;
}

/** A request, with what its URL says. */
export interface Incoming {
  readonly request: HttpRequest;
  /** The decoded segments of the path. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

/** Returns the error for a path without a route, with TorchServe's text. */
export function resourceNotFound(): ServingError {
  const message = 'Requested resource is not found, please refer to API document.';
  return new ServingError('invalid-input', 404, 'ResourceNotFoundException', message);
}

/** @throws `invalid-input` unless the request has one of these methods. TorchServe's text */
export function checkMethod({ request: { method } }: Incoming, ...allowed: readonly string[]): void {
  if (allowed.includes(method)) return;
  const Allow = allowed.join(', ');
  const message = `Requested method is not allowed, please refer to API document. Allowed: ${Allow}.`;
  throw new ServingError('invalid-input', 405, 'MethodNotAllowedException', message, undefined, { Allow });
}
