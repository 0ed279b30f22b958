import type { EngineOptions } from '../../../contract/archive.js';
import { TabServeError } from '../../../contract/errors.js';
import type { RemoteProtocol } from '../../../contract/remote.js';
import { VERSION } from '../../../contract/version.js';
import { browserClock, type Clock } from '../../../shared/clock.js';
import { fetchUnlessForbidden } from '../forbidden-requests.js';
import type { Engine, EngineEnvironment } from '../engine.js';
import { Lock, LockedSession } from '../session.js';
import { send } from './http.js';
import { openInference } from './open-inference.js';
import type { OpenRemote, Send } from './protocol.js';
import { torchServe } from './torchserve.js';

const PROTOCOLS: Readonly<Record<RemoteProtocol, OpenRemote>> = {
  'open-inference': openInference,
  torchserve: torchServe,
};

export interface RemoteEnvironment extends Pick<EngineEnvironment, 'remote' | 'fetch'> {
  readonly clock?: Clock;
  /** Returns a number in 0..1. */
  readonly random?: () => number;
}

/** Starts the engine. @throws `backend-failed` if the app has named no server */
export async function start({ remote }: EngineEnvironment): Promise<Engine> {
  // The environment's own `fetch` is for files: it may follow redirects.
  return createEngine({ remote, fetch: fetchUnlessForbidden(globalThis) });
}

/**
 * Creates the engine of models on a server. One lock guards all of its requests: the server gets one at a time, over
 * one connection.
 * @throws `backend-failed` if the app has named no server
 */
export function createEngine(environment: RemoteEnvironment): Engine {
  const { remote: server, fetch = globalThis.fetch, clock = browserClock, random = Math.random } = environment;
  if (!server) throw new TabServeError('backend-failed', 'No server is named: set the option remote, such as { url }.');
  const lock = new Lock();
  const ask: Send = (request) => send(request, { server, fetch, clock, random });

  return {
    version: VERSION,
    threads: 1,
    memory: () => 0,
    async open(_, name, { remote = {} }: EngineOptions) {
      const protocol = PROTOCOLS[remote.protocol ?? 'open-inference'];
      const model = await blamingBackend(() => lock.run(() => protocol(name, remote, ask)));
      return new LockedSession({ ...model, release: () => {} }, lock, undefined);
    },
  };
}

/**
 * Runs work, and blames the backend for whatever is wrong with the server while a model is being opened: another
 * backend may work.
 */
async function blamingBackend<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TabServeError) || !['device-lost', 'inference-failed'].includes(error.code)) throw error;
    throw new TabServeError('backend-failed', error.message, { cause: error.cause });
  }
}
