import { describeTime } from '../../contract/describe-value.js';
import type { MetricsSnapshot } from '../../contract/metrics.js';
import { STAGES } from '../../contract/stages.js';
import type { Client } from '../client/client.js';
import type { ClientEvents, Recovery } from '../requests/sender.js';
import { counted, describeBackend, outcomesOf } from './words.js';

/** The requests that are listed, and the other events. Each has its own limit: many requests hide no event. */
const MAX_REQUESTS = 20;
const MAX_EVENTS = 30;

/** What a request did, in order. */
export const PARTS = ['queue', ...STAGES.slice(1)] as readonly Part[];
export type Part = 'queue' | 'preprocess' | 'inference' | 'postprocess';

/** An answered request. */
export interface RequestEntry {
  readonly kind: 'request';
  readonly number: number;
  readonly at: Date;
  /** Milliseconds by part. */
  readonly times: Readonly<Record<Part, number>>;
  readonly total: number;
  readonly text: string;
}

/** Something else that happened: an event of the client, its worker was ended on demand, or requests have failed. */
export interface EventEntry {
  readonly kind: 'ended' | 'error' | Exclude<keyof ClientEvents, 'response'>;
  readonly number: number;
  readonly at: Date;
  readonly text: string;
}

export type Entry = RequestEntry | EventEntry;

/** Records what happens to a client from now on. */
export class ClientHistory {
  readonly #onEvent: (entry: EventEntry) => void;
  readonly #stops: readonly (() => void)[];
  readonly #requests: Entry[] = [];
  readonly #events: EventEntry[] = [];
  /** Number of settled requests by outcome, as last counted. */
  #outcomes: ReadonlyMap<string, number>;
  #entries = 0;
  /** How often lost workers were replaced, and the last time in words. */
  recoveries = 0;
  lastRecovery: string | undefined;

  /** @param onEvent called with everything but answered requests */
  constructor(client: Pick<Client, 'metrics' | 'on'>, onEvent: (entry: EventEntry) => void) {
    this.#onEvent = onEvent;
    this.#outcomes = outcomesOf(client.metrics.snapshot());
    this.#stops = [
      client.on('response', (response) => this.#answered(response)),
      client.on('backendchange', (backend) => this.add('backendchange', `Runs on ${describeBackend(backend)}.`)),
      client.on('recover', (recovery) => {
        this.recoveries += 1;
        this.add('recover', (this.lastRecovery = describeRecovery(recovery)));
      }),
      client.on('fail', ({ message }) => this.add('fail', message)),
      client.on('warn', ({ message }) => this.add('warn', message)),
    ];
  }

  /** What happened, the latest first. */
  get entries(): readonly Entry[] {
    return [...this.#requests, ...this.#events].toSorted((a, b) => b.number - a.number);
  }

  add(kind: EventEntry['kind'], text: string): void {
    const entry = { kind, number: ++this.#entries, at: new Date(), text };
    this.#events.push(entry);
    if (this.#events.length > MAX_EVENTS) this.#events.shift();
    this.#onEvent(entry);
  }

  /** Lists the requests that have failed since the last call: no event tells of them. */
  countFailures(metrics: MetricsSnapshot): void {
    const outcomes = outcomesOf(metrics);
    for (const [outcome, count] of outcomes) {
      const failed = count - (this.#outcomes.get(outcome) ?? 0);
      if (outcome === 'ok' || failed === 0) continue;
      const text = `${counted(failed, 'request')} ended with ${outcome}.`;
      this.#addRequest({ kind: 'error', number: ++this.#entries, at: new Date(), text });
    }
    this.#outcomes = outcomes;
  }

  /** Ends recording. */
  close(): void {
    for (const stop of this.#stops) stop();
  }

  #answered({ rows, batchSize, queued, timings, nodes = {} }: ClientEvents['response']): void {
    const { preprocess = 0, inference = 0, postprocess = 0 } = timings;
    const times = { queue: queued, preprocess, inference, postprocess };
    const total = queued + preprocess + inference + postprocess;
    const parts = PARTS.map((part) => `${part} ${describeTime(times[part])}`).join(', ');
    const batch = batchSize > 1 ? `, ${counted(rows, 'row')} in a batch of ${batchSize}` : '';
    const inner = Object.entries(nodes).map(([node, { inference: took = 0 }]) => `; ${node}: ${describeTime(took)}`);
    const text = `${describeTime(total)}: ${parts}${batch}${inner.join('')}`;
    this.#addRequest({ kind: 'request', number: ++this.#entries, at: new Date(), times, total, text });
  }

  #addRequest(entry: Entry): void {
    this.#requests.push(entry);
    if (this.#requests.length > MAX_REQUESTS) this.#requests.shift();
  }
}

function describeRecovery({ backend, cause, replayed, failed, took }: Recovery): string {
  const fate = `${counted(replayed, 'request')} replayed, ${failed} failed`;
  return `Healed on ${describeBackend(backend)} in ${describeTime(took)}, ${fate}. Lost because: ${cause.message}`;
}
