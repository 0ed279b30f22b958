import { loadScript } from '../../shared/load-script.js';
import type { OpenerOptions } from '../options/client-options.js';
import type { Opening, Sender, SenderEvents } from '../requests/sender.js';
import type { ServingMetrics } from '../metrics/client-metrics.js';
import { LocalSender, type MakeLocalSender } from '../selection/local-sender.js';
import { scriptLimit } from '../selection/worker-opener.js';
import type { ShareEnvironment } from '../sharing/election.js';
import type { CoreBudget } from '../workers/budget.js';
import type { WorkerFactory } from '../workers/worker-factory.js';
import { checkWorkers } from './check-workers.js';

/** What a client gives its sender. */
interface ClientSenderOptions {
  readonly factory: WorkerFactory;
  readonly options: OpenerOptions;
  readonly cores: CoreBudget;
  readonly metrics: ServingMetrics;
  readonly events: SenderEvents;
  /** Whether the factory makes the built-in worker. */
  readonly isBuiltIn: boolean;
  readonly shareEnvironment: ShareEnvironment | string | undefined;
  /** Aborts when the client is disposed of. */
  readonly disposed: AbortSignal;
}

/** Holds what a client's requests go to: the workers of its own tab, until the client has joined a share. */
export class ClientSender {
  readonly #options: ClientSenderOptions;
  readonly #makeLocalSender: MakeLocalSender;
  #current: Sender;
  /** Whether the client has to join a share before it opens the model. */
  #mustJoin: boolean;
  #alone: string | undefined;

  constructor(options: ClientSenderOptions) {
    this.#options = options;
    const { factory, options: own, cores, metrics, events } = options;
    this.#makeLocalSender = (metrics, events) => new LocalSender({ factory, options: own, cores, metrics, events });
    this.#current = this.#makeLocalSender(metrics, events);
    this.#mustJoin = own.share !== undefined && own.share !== false;
  }

  get current(): Sender {
    return this.#current;
  }

  /** Why this page cannot share a model, although the client has the option `share`. */
  get alone(): string | undefined {
    return this.#alone;
  }

  /** Opens the model, or joins the tabs that share it if the option `share` is set and the page can do that. */
  async open(opening: Opening): Promise<void> {
    checkWorkers(this.#options.isBuiltIn);
    if (this.#mustJoin) await this.#join(opening.signal);
    await this.#current.open(opening);
  }

  async #join(signal: AbortSignal): Promise<void> {
    const { options, shareEnvironment, isBuiltIn, metrics, events, disposed } = this.#options;
    const script = async (): Promise<typeof import('../sharing/join.js').join> =>
      (await import('../sharing/join.js')).join;
    const join = await loadScript(script, scriptLimit(options, signal));
    const joined = await join(options, {
      environment: shareEnvironment,
      isBuiltIn,
      makeLocalSender: this.#makeLocalSender,
      metrics,
      events,
      signal: AbortSignal.any([signal, disposed]),
    });
    if ('alone' in joined) this.#alone = joined.alone;
    else this.#current = joined;
    this.#mustJoin = false;
  }
}
