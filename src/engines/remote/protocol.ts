import { TabServeError } from '../../contract/errors.js';
import type { RemoteModel } from '../../contract/remote.js';
import type { OnArrayBuffer } from '../../contract/tensors.js';
import type { LoadedModel } from '../session.js';
import type { Answer } from './answer.js';

/** A request to the server. */
export interface HttpRequest {
  /** Below the server's URL. */
  readonly path: string;
  /** Makes it a POST. */
  readonly body?: OnArrayBuffer<Uint8Array> | string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** Sends a request to the server. @throws `device-lost`, `inference-failed`, `aborted` */
export type Send = (request: HttpRequest) => Promise<Answer>;

/** Opens the model of a name by a protocol. @throws `backend-failed`, `model-config`, `device-lost`, `inference-failed` */
export type OpenRemote = (name: string, model: RemoteModel, send: Send) => Promise<Omit<LoadedModel, 'release'>>;

/** Returns names as a path. @throws `model-config` for a name that a URL would not keep */
export function pathOf(...names: readonly string[]): string {
  const wrong = names.find((name) => name === '' || name === '.' || name === '..');
  if (wrong === undefined) return names.map(encodeURIComponent).join('/');
  throw new TabServeError('model-config', `engine.remote: "${wrong}" cannot be the name or the version of a model.`);
}
