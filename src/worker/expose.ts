import { expose as comlinkExpose } from 'comlink';
import { PROTOCOL, type ConnectMessage, type ReadyMessage, type WorkerEvent } from '../contract/wire.js';
import type { Engines } from '../engines/engine.js';
import { cloneSafe } from './endpoint.js';
import { Host, type HandlerClass, type HostOptions } from './host.js';

/** What `expose` takes beside the handler class. */
export interface ExposeOptions {
  /** The engines that the worker may start. */
  readonly engines: Engines;
}

/**
 * Serves one handler class from this worker. To be called at the top level of the worker's module.
 * Where that module is no worker, as when a unit test imports the class from it, this does nothing.
 */
export function expose(handler: HandlerClass, { engines }: ExposeOptions): void {
  if (!('WorkerGlobalScope' in globalThis)) return;
  serve({ engines, handlerClass: () => Promise.resolve(handler) });
}

/**
 * Says that the worker is there, and answers the page that connects. The page waits for this message before it sends anything:
 * what reaches a worker whose module is still loading is lost.
 */
export function serve(options: Omit<HostOptions, 'emit'>): void {
  const scope = globalThis as unknown as Worker;
  scope.addEventListener('message', function connect({ data }: MessageEvent<ConnectMessage | undefined>) {
    if (data?.tabserve !== 'connect') return;
    scope.removeEventListener('message', connect);
    const emit = (event: WorkerEvent): void => data.events.postMessage(event);
    data.calls.addEventListener('messageerror', () => emit({ type: 'unreadable' }));
    holdForLife(data.life, () => emit({ type: 'held' }));
    comlinkExpose(new Host({ ...options, emit }), cloneSafe(data.calls));
  });
  scope.postMessage({ tabserve: 'ready', protocol: PROTOCOL } satisfies ReadyMessage);
}

/** The browser frees a worker's locks when it dies, however it dies: the page waits for this one. */
function holdForLife(name: string, onHeld: () => void): void {
  void globalThis.navigator?.locks?.request(name, () => {
    onHeld();
    return new Promise(() => {});
  });
}
