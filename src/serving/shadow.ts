import { asTabServeError } from '../contract/errors.js';
import type { Clock } from '../shared/clock.js';
import { withinLimit } from '../shared/limit.js';
import { compareAnswers } from './compare-answers.js';
import type { ServedRequestOptions } from './served-client.js';
import type { ServedVersion } from './served-version.js';
import { smallCopy } from './small-copy.js';
import type { Traffic } from './traffic.js';

/** What a shadow has found. It stays where it is: nothing is sent anywhere. */
export interface ShadowReport {
  readonly name: string;
  /** The version that runs as a shadow. */
  readonly version: string;
  /** Requests of the default version since the shadow was started. */
  readonly requests: number;
  /** Requests whose answers were compared. */
  readonly compared: number;
  /** Of these, those where the two versions say something else: another best label, another text, another form. */
  readonly disagreed: number;
  /** The most frequent of these, as the default version's label and the shadow's; at most 100 pairs. */
  readonly labels: readonly { readonly default: string; readonly shadow: string; readonly count: number }[];
  /** The largest difference of two scores of a label, or of two elements of a tensor. */
  readonly largestDifference: number;
  /** The mean of the largest differences of the requests. */
  readonly meanDifference: number;
  /** Runs that failed. */
  readonly failed: number;
  /** Why the last of these failed. */
  readonly lastError: string | undefined;
  /** Runs that were given up because a request came. At most one request in 200 meets a run. */
  readonly interrupted: number;
  /** Requests of the share that were not compared: no time for them, or their input cannot be kept. */
  readonly skipped: number;
}

/** How a shadow runs. */
export interface ShadowOptions {
  /** The share of the default version's requests that are compared, in 0..1. @default 1 */
  readonly share?: number;
}

/** A request of the default version, to be compared. */
interface Sample {
  readonly input: unknown;
  readonly options: ServedRequestOptions;
  readonly answer: unknown;
}

/** Samples that wait for idle time. Older ones are dropped. */
const MOST_WAITING = 8;
/** The pause after the last request before a run. */
const PAUSE_MS = 100;
/** At most one request in so many may meet a run: too few to change the 95th percentile. */
const REQUESTS_PER_MEETING = 200;
const RUN_LIMIT_MS = 60_000;

/**
 * Runs a version on requests that the default version has answered, one at a time, and only while the server has nothing else to do. A request ends the run. What the
 * shadow's worker computes at that moment cannot be stopped, so the request may wait for the processor or the GPU. At most one request in 200 does: above that, no run begins.
 */
export class Shadow {
  readonly #clock: Clock;
  readonly #traffic: Traffic;
  readonly #find: () => ServedVersion;
  readonly #share: number;
  /** The name of the model, and the version that runs as a shadow. */
  readonly name: string;
  readonly version: string;
  readonly #waiting: Sample[] = [];
  readonly #pairs = new Map<string, number>();
  readonly #stopListening: () => void;
  #cancelTimer: (() => void) | undefined;
  #run: AbortController | undefined;
  #isStopped = false;
  /** When the worker has certainly ended the last run, by its longest one. */
  #busyUntil = -Infinity;
  #longestRun = 0;
  #active: number;
  #meetings = 0;
  #sum = 0;
  readonly #counts = { requests: 0, compared: 0, disagreed: 0, largestDifference: 0, failed: 0, interrupted: 0, skipped: 0 }; // prettier-ignore
  #lastError: string | undefined;

  /** @param world `find` returns the version, wherever it was loaded last */
  constructor(
    { name, version, share }: { readonly name: string; readonly version: string; readonly share: number },
    world: { readonly clock: Clock; readonly traffic: Traffic; readonly find: () => ServedVersion },
  ) {
    this.name = name;
    this.version = version;
    this.#share = share;
    this.#clock = world.clock;
    this.#traffic = world.traffic;
    this.#find = world.find;
    this.#active = world.traffic.active;
    this.#stopListening = world.traffic.onChange(() => this.#changed());
  }

  /** Follows a request of the default version, which is being answered. What the caller does to the input or to the answer afterwards changes nothing. */
  follow(input: unknown, options: ServedRequestOptions, answer: Promise<unknown>): void {
    if (this.#isStopped) return;
    const before = Math.floor(this.#counts.requests * this.#share);
    this.#counts.requests += 1;
    if (Math.floor(this.#counts.requests * this.#share) === before) return;
    const copy = options.transfer === true ? undefined : smallCopy(input);
    const { params, priority } = options;
    const own = { ...(params && { params }), ...(priority !== undefined && { priority }) };
    answer.then(
      (value) =>
        this.#add(copy && smallCopy(value), (answered) => ({ input: copy!.value, options: own, answer: answered })),
      () => {},
    );
  }

  #add(answer: { readonly value: unknown } | undefined, sample: (answer: unknown) => Sample): void {
    if (this.#isStopped) return;
    if (!answer) return void (this.#counts.skipped += 1);
    this.#waiting.push(sample(answer.value));
    if (this.#waiting.length > MOST_WAITING) {
      this.#waiting.shift();
      this.#counts.skipped += 1;
    }
    this.#plan();
  }

  /** A request began or ended. */
  #changed(): void {
    const began = this.#traffic.active > this.#active;
    this.#active = this.#traffic.active;
    if (began && (this.#run || this.#clock.now() < this.#busyUntil)) this.#meetings += 1;
    if (began) this.#run?.abort();
    this.#plan();
  }

  /** Waits for a pause without requests. */
  #plan(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#isStopped || this.#run || this.#traffic.active > 0 || this.#waiting.length === 0) return;
    if (this.#meetings * REQUESTS_PER_MEETING > this.#counts.requests) return;
    this.#cancelTimer = this.#clock.schedule(() => void this.#compare(), PAUSE_MS);
  }

  async #compare(): Promise<void> {
    const { input, options, answer } = this.#waiting.pop()!;
    const run = (this.#run = new AbortController());
    const startedAt = this.#clock.now();
    this.#busyUntil = startedAt + this.#longestRun;
    try {
      const { client } = this.#find().options;
      const limit = { milliseconds: RUN_LIMIT_MS, clock: this.#clock, signal: run.signal };
      const shadowed = await withinLimit('The shadow', () => client.predict(input, { ...options, signal: run.signal }), limit); // prettier-ignore
      this.#longestRun = Math.max(this.#longestRun, this.#clock.now() - startedAt);
      this.#record(answer, shadowed);
    } catch (error) {
      if (run.signal.aborted) this.#counts.interrupted += this.#isStopped ? 0 : 1;
      else {
        this.#counts.failed += 1;
        this.#lastError = asTabServeError(error).message;
      }
      if (asTabServeError(error).code === 'timeout') run.abort();
    } finally {
      this.#run = undefined;
      if (!run.signal.aborted) this.#busyUntil = -Infinity;
      this.#plan();
    }
  }

  #record(answer: unknown, shadowed: unknown): void {
    const { labels, disagrees, largest } = compareAnswers(answer, shadowed);
    const counts = this.#counts;
    counts.compared += 1;
    counts.largestDifference = Math.max(counts.largestDifference, largest);
    this.#sum += largest;
    if (!disagrees) return;
    counts.disagreed += 1;
    if (labels[0] === labels[1]) return;
    const pair = JSON.stringify(labels.map((label) => label ?? ''));
    if (this.#pairs.has(pair) || this.#pairs.size < 100) this.#pairs.set(pair, (this.#pairs.get(pair) ?? 0) + 1);
  }

  /** Returns what was found so far. */
  report(): ShadowReport {
    const { name, version } = this;
    const labels = [...this.#pairs].map(([pair, count]) => {
      const [first, second] = JSON.parse(pair) as [string, string];
      return { default: first, shadow: second, count };
    });
    return {
      name,
      version,
      ...this.#counts,
      meanDifference: this.#counts.compared === 0 ? 0 : this.#sum / this.#counts.compared,
      labels: labels.sort((a, b) => b.count - a.count),
      lastError: this.#lastError,
    };
  }

  /** Ends the shadow. A run that it has begun is given up. */
  stop(): void {
    this.#isStopped = true;
    this.#waiting.length = 0;
    this.#cancelTimer?.();
    this.#stopListening();
    this.#run?.abort();
  }
}
