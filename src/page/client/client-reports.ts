import { Emitter } from './events.js';
import { EventLog } from './log.js';
import type { ClientEvents, SenderEvents } from '../requests/sender.js';

/**
 * What a client reports of its workers: to the listeners of the app, on the console, and in the log of `diagnose`.
 * Arrow functions, because senders copy them into objects of their own.
 */
export class ClientReports extends Emitter<ClientEvents> implements SenderEvents {
  readonly #log = new EventLog();
  readonly #warned = new Set<string>();

  constructor() {
    super(['backendchange', 'recover', 'fail', 'warn', 'response']);
  }

  /** The lines of the log. */
  get entries(): readonly string[] {
    return this.#log.entries;
  }

  readonly backend: SenderEvents['backend'] = (backend) => this.emit('backendchange', backend);
  readonly recover: SenderEvents['recover'] = (recovery) => this.emit('recover', recovery);
  readonly log: SenderEvents['log'] = (message, since) => this.#log.add(message, since);

  readonly fail: SenderEvents['fail'] = (error) => {
    this.#log.add(error.message);
    this.emit('fail', error);
  };

  /** Reports a problem that does not stop anything, once, although each worker may find it. */
  readonly warn: SenderEvents['warn'] = (message) => {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.#log.add(message);
    console.warn(`tabserve: ${message}`);
    this.emit('warn', { message });
  };
}
