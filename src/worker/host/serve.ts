import { expose as comlinkExpose } from 'comlink';
import {
  PROTOCOL,
  type BuiltInConnectMessage,
  type ConnectMessage,
  type ReadyMessage,
  type WorkerEvent,
} from '../../contract/wire.js';
import { cloneSafe } from './endpoint.js';
import { Host, type HostOptions } from './host.js';

/**
 * The object on which a worker receives the page's messages: its global scope, or under Node the port to its parent.
 */
export type WorkerScope = Pick<Worker, 'addEventListener' | 'removeEventListener' | 'postMessage'>;

/**
 * Tells the page that the worker is ready, and serves the page that connects. The page waits for this message before it
 * sends anything, because messages to a worker whose module is still loading are lost.
 * @param scope the worker's end of the messages between page and worker
 */
export function serve(
  options: Omit<HostOptions, 'emit' | 'sendChunk'>,
  scope: WorkerScope = globalThis as unknown as Worker,
): void {
  scope.addEventListener(
    'message',
    function connect({ data }: MessageEvent<ConnectMessage | BuiltInConnectMessage | undefined>) {
      if (data?.tabserve !== 'connect') return;
      scope.removeEventListener('message', connect);
      const emit = (event: WorkerEvent): void => data.events.postMessage(event);
      const isBuiltIn = !('calls' in data);
      const calls = isBuiltIn ? scope : data.calls;
      calls.addEventListener('messageerror', () => emit({ type: 'unreadable' }));
      holdForLife(data.life).then(
        () => emit({ type: 'held' }),
        () => emit({ type: 'unheld' }),
      );
      const sendChunk: HostOptions['sendChunk'] = (message, list) => calls.postMessage(message, list);
      comlinkExpose(new Host({ ...options, emit, sendChunk }), cloneSafe(calls));
    },
  );
  scope.postMessage({ tabserve: 'ready', protocol: PROTOCOL } satisfies ReadyMessage);
}

/**
 * Holds a lock until the worker ends. The browser releases it however the worker ends, and so tells the page, which
 * waits for the lock. Resolves as soon as it is held. @throws where there are no locks, as in a sandboxed frame
 */
function holdForLife(name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const hold = (): Promise<void> => {
      resolve();
      return new Promise(() => {});
    };
    const { locks } = globalThis.navigator ?? {};
    if (locks) locks.request(name, hold).catch(reject);
    else reject(new Error('There are no locks.'));
  });
}
