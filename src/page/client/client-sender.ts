import { loadScript } from '../../shared/load-script.js';
import type { Opening, Sender } from '../requests/sender.js';
import { LocalSender, type LocalSenderOptions } from '../selection/local-sender.js';
import { scriptLimit } from '../selection/worker-opener.js';
import type { ShareEnvironment } from '../sharing/election.js';
import { checkWorkers } from './check-workers.js';

/** What a sender of this tab is made of, and what sharing needs. */
interface ClientSenderOptions extends LocalSenderOptions {
  /** Whether the factory makes the built-in worker. */
  readonly isBuiltIn: boolean;
  readonly environment: ShareEnvironment | string | undefined;
  /** Aborts when the client is disposed of. */
  readonly disposed: AbortSignal;
}

/** Holds what a client's requests go to: the workers of its own tab, until the client has joined a share. */
export class ClientSender {
  readonly #options: ClientSenderOptions;
  current: Sender;
  /** Why this page cannot share a model, although the client has the option `share`. */
  alone: string | undefined;
  /** Whether the client has to join a share before it opens the model. */
  #mustJoin: boolean;

  constructor(options: ClientSenderOptions) {
    const { share } = options.options;
    this.#options = options;
    this.#mustJoin = share !== undefined && share !== false;
    this.current = new LocalSender(options);
  }

  /** Opens the model, or joins the tabs that share it if the option `share` is set and the page can do that. */
  async open(opening: Opening): Promise<void> {
    checkWorkers(this.#options.isBuiltIn);
    if (this.#mustJoin) await this.#join(opening.signal);
    await this.current.open(opening);
  }

  async #join(signal: AbortSignal): Promise<void> {
    const own = this.#options;
    const script = async (): Promise<typeof import('../sharing/join.js').join> =>
      (await import('../sharing/join.js')).join;
    const join = await loadScript(script, scriptLimit(own.options, signal));
    const joined = await join(own.options, {
      ...own,
      makeLocalSender: (metrics, events) => new LocalSender({ ...own, metrics, events }),
      signal: AbortSignal.any([signal, own.disposed]),
    });
    if ('alone' in joined) this.alone = joined.alone;
    else this.current = joined;
    this.#mustJoin = false;
  }
}
