import { PROTOCOL, type ConnectMessage, type ReadyMessage } from '../../contract/wire.js';

/** What a `Connection` takes for a worker: the session of a host, in this tab or another. It ends when the host does. */
export abstract class DistantWorker extends EventTarget {
  /** The factory of a `Connection`: says that it is ready as soon as the connection listens. */
  readonly factory = (): Worker => {
    const ready: ReadyMessage = { tabserve: 'ready', protocol: PROTOCOL };
    queueMicrotask(() => this.dispatchEvent(new MessageEvent('message', { data: ready })));
    return this as unknown as Worker;
  };

  /** Takes the ports of the connection. */
  abstract postMessage(message: ConnectMessage): void;

  /** The connection has ended. */
  abstract terminate(): void;

  /** Ends the connection, whose requests go to the next host. */
  end(why: string): void {
    this.dispatchEvent(Object.assign(new Event('error'), { message: why }));
  }
}
