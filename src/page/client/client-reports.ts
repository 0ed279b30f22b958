import { EventLog } from './log.js';
import { Emitter } from './events.js';
import type { ClientEvents, SenderEvents } from '../requests/sender.js';

/** What a client reports of its workers: to the listeners of the app, on the console, and in the log of `diagnose`. */
export class ClientReports implements SenderEvents {
  readonly events = new Emitter<ClientEvents>(['backendchange', 'recover', 'fail', 'warn', 'response']);
  readonly #log = new EventLog();
  readonly #warned = new Set<string>();

  /** The lines of the log. */
  get entries(): readonly string[] {
    return this.#log.entries;
  }

  readonly backend: SenderEvents['backend'] = (backend) => this.events.emit('backendchange', backend);
  readonly recover: SenderEvents['recover'] = (recovery) => this.events.emit('recover', recovery);
  readonly log: SenderEvents['log'] = (message, since) => this.#log.add(message, since);

  readonly fail: SenderEvents['fail'] = (error) => {
    this.#log.add(error.message);
    this.events.emit('fail', error);
  };

  /** Reports a problem that does not stop anything, once, although each worker may find it. */
  readonly warn: SenderEvents['warn'] = (message) => {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.#log.add(message);
    console.warn(`tabserve: ${message}`);
    this.events.emit('warn', { message });
  };
}
