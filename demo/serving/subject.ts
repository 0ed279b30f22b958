import type { RequestOptions, TabServeError } from '../../src/index.js';
import type { Served } from './models.js';
import { outcomes, type Rates } from './outcomes.js';
import { RecentBatches, RecentTimes, type Quantiles } from './recent.js';
import { PARTS, type Part } from './stages.js';

/** What happened since the last call. */
export interface Look {
  /** Requests a second. */
  readonly offered: number;
  readonly rates: Rates;
}

/** Errors that a high load causes. */
const EXPECTED: ReadonlySet<string> = new Set(['queue-full', 'timeout', 'disposed']);

/** A client under load, with its measurements. */
export class Subject {
  readonly client: Served;
  readonly batches = new RecentBatches();
  /** The message of the last error that the load did not cause. */
  failure: string | undefined;
  readonly #inputs: readonly unknown[];
  readonly #times = Object.fromEntries(PARTS.map((part) => [part, new RecentTimes()])) as Record<Part, RecentTimes>;
  readonly #rates = outcomes();
  #sent = 0;
  #looked = { at: performance.now(), sent: 0 };

  /** @param inputs are sent in turn */
  constructor(client: Served, inputs: readonly unknown[]) {
    this.client = client;
    this.#inputs = inputs;
    this.#rates(client.metrics.snapshot());
    client.on('response', ({ queued, batchSize, timings: { preprocess, inference, postprocess } }) => {
      for (const [part, took] of Object.entries({ queue: queued, preprocess, inference, postprocess }))
        if (took !== undefined) this.#times[part as Part].add(took);
      this.batches.add(batchSize);
    });
  }

  /** Sends one request and does not wait for its answer. `deadline`: its timeout in milliseconds; 0: none. */
  send(deadline: number): void {
    void this.#send(deadline === 0 ? {} : { timeout: deadline });
  }

  async #send(options: RequestOptions): Promise<void> {
    const input = this.#inputs[this.#sent++ % this.#inputs.length];
    const sent = performance.now();
    try {
      await this.client.predict(input, options);
      this.#times.total.add(performance.now() - sent);
    } catch (error) {
      const { code, message } = error as TabServeError;
      if (!EXPECTED.has(code)) this.failure = message;
    }
  }

  look(): Look {
    const at = performance.now();
    const offered = ((this.#sent - this.#looked.sent) * 1000) / (at - this.#looked.at);
    this.#looked = { at, sent: this.#sent };
    return { offered, rates: this.#rates(this.client.metrics.snapshot()) };
  }

  get times(): Readonly<Record<Part, Quantiles>> {
    return Object.fromEntries(PARTS.map((part) => [part, this.#times[part].quantiles])) as Record<Part, Quantiles>;
  }
}
