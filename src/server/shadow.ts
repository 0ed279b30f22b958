import { asTabServeError } from '../contract/errors.js';
import { bytesOf } from '../shared/bytes-of.js';
import type { Clock } from '../shared/clock.js';
import { withinLimit } from '../shared/limit.js';
import type { ServedRequestOptions } from './served-client.js';
import type { ServedVersion, Traffic } from './served-version.js';
import { ShadowStatistics, type ShadowReport } from './shadow-report.js';

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
const MAX_WAITING = 8;
/** The pause after the last request before a run. */
const PAUSE_MS = 100;
/** At most one request in this many may overlap a run: too few to change the 95th percentile. */
const REQUESTS_PER_OVERLAP = 200;
const MAX_RUN_MS = 60_000;

/**
 * Runs a version on requests that the default version has answered, one at a time, and only while the server has
 * nothing else to do. A request ends the run. What the shadow's worker computes at that moment cannot be stopped, so
 * the request may wait for the processor or the GPU. At most one request in 200 does: above that, no run begins.
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
  readonly #stopListening: () => void;
  #cancelTimer: (() => void) | undefined;
  #run: AbortController | undefined;
  #isStopped = false;
  /** When the worker has certainly finished the last run, judged by its longest one. */
  #busyUntil = -Infinity;
  #longestRun = 0;
  #active: number;
  #overlaps = 0;
  readonly #statistics = new ShadowStatistics();

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

  /**
   * Follows a request of the default version, which is being answered. Later changes of the input or the answer by the
   * caller have no effect.
   */
  follow(input: unknown, options: ServedRequestOptions, answer: Promise<unknown>): void {
    if (this.#isStopped) return;
    const before = Math.floor(this.#statistics.requests * this.#share);
    this.#statistics.requests += 1;
    if (Math.floor(this.#statistics.requests * this.#share) === before) return;
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
    if (!answer) return void (this.#statistics.skipped += 1);
    this.#waiting.push(sample(answer.value));
    if (this.#waiting.length > MAX_WAITING) {
      this.#waiting.shift();
      this.#statistics.skipped += 1;
    }
    this.#plan();
  }

  /** Handles that a request began or ended. */
  #changed(): void {
    const began = this.#traffic.active > this.#active;
    this.#active = this.#traffic.active;
    if (began && (this.#run || this.#clock.now() < this.#busyUntil)) this.#overlaps += 1;
    if (began) this.#run?.abort();
    this.#plan();
  }

  /** Waits for a pause without requests. */
  #plan(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#isStopped || this.#run || this.#traffic.active > 0 || this.#waiting.length === 0) return;
    if (this.#overlaps * REQUESTS_PER_OVERLAP > this.#statistics.requests) return;
    this.#cancelTimer = this.#clock.schedule(() => void this.#compare(), PAUSE_MS);
  }

  async #compare(): Promise<void> {
    const { input, options, answer } = this.#waiting.pop()!;
    const run = (this.#run = new AbortController());
    const startedAt = this.#clock.now();
    this.#busyUntil = startedAt + this.#longestRun;
    try {
      const { client } = this.#find().options;
      const limit = { milliseconds: MAX_RUN_MS, clock: this.#clock, signal: run.signal };
      const shadowed = await withinLimit(
        'The shadow',
        () => client.predict(input, { ...options, signal: run.signal }),
        limit,
      );
      this.#longestRun = Math.max(this.#longestRun, this.#clock.now() - startedAt);
      this.#statistics.compare(answer, shadowed);
    } catch (error) {
      if (run.signal.aborted) this.#statistics.interrupted += this.#isStopped ? 0 : 1;
      else this.#statistics.fail(error);
      if (asTabServeError(error).code === 'timeout') run.abort();
    } finally {
      this.#run = undefined;
      if (!run.signal.aborted) this.#busyUntil = -Infinity;
      this.#plan();
    }
  }

  /** Returns what was found so far. */
  report(): ShadowReport {
    return this.#statistics.report(this.name, this.version);
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

/** The maximum number of bytes of arrays that are copied for a comparison: a millisecond's work. */
const MAX_COPIED_BYTES = 4_000_000;

/**
 * Returns a copy that later changes of the value do not reach; undefined for what is large, or is no plain data: an
 * element, a frame. A Blob never changes.
 */
export function smallCopy(value: unknown): { readonly value: unknown } | undefined {
  if (bytesOf(value, MAX_COPIED_BYTES) > MAX_COPIED_BYTES) return undefined;
  try {
    return { value: structuredClone(value) };
  } catch {
    return undefined;
  }
}
