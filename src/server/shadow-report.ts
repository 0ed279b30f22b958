import { asTabServeError } from '../contract/errors.js';
import { compareAnswers } from './compare-answers.js';

/** The results of a shadow. They are not sent anywhere. */
export interface ShadowReport {
  /** The model's name. */
  readonly name: string;
  /** The version that runs as a shadow. */
  readonly version: string;
  /** Requests of the default version since the shadow was started. */
  readonly requests: number;
  /** Requests whose answers were compared. */
  readonly compared: number;
  /** Of these, those where the two versions disagree: another best label, another text, another form. */
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
  /** Runs that were given up because a request came. At most one request in 200 overlaps a run. */
  readonly interrupted: number;
  /** Requests of the share that were not compared: there was no time, or their input could not be copied. */
  readonly skipped: number;
}

/** The most different pairs of labels that are counted. */
const MAX_PAIRS = 100;

/** Counts what a shadow finds. */
export class ShadowStatistics {
  requests = 0;
  failed = 0;
  interrupted = 0;
  skipped = 0;
  #compared = 0;
  #disagreed = 0;
  #largest = 0;
  #sum = 0;
  #lastError: string | undefined;
  readonly #pairs = new Map<string, number>();

  /** Compares the two versions' answers to one request. */
  compare(answer: unknown, shadowed: unknown): void {
    const { labels, disagrees, largest } = compareAnswers(answer, shadowed);
    this.#compared += 1;
    this.#largest = Math.max(this.#largest, largest);
    this.#sum += largest;
    if (!disagrees) return;
    this.#disagreed += 1;
    if (labels[0] === labels[1]) return;
    const pair = JSON.stringify(labels.map((label) => label ?? ''));
    if (this.#pairs.has(pair) || this.#pairs.size < MAX_PAIRS) this.#pairs.set(pair, (this.#pairs.get(pair) ?? 0) + 1);
  }

  /** Counts a run that failed. */
  fail(error: unknown): void {
    this.failed += 1;
    this.#lastError = asTabServeError(error).message;
  }

  report(name: string, version: string): ShadowReport {
    const labels = [...this.#pairs].map(([pair, count]) => {
      const [first, second] = JSON.parse(pair) as [string, string];
      return { default: first, shadow: second, count };
    });
    return {
      name,
      version,
      requests: this.requests,
      compared: this.#compared,
      disagreed: this.#disagreed,
      labels: labels.sort((a, b) => b.count - a.count),
      largestDifference: this.#largest,
      meanDifference: this.#compared === 0 ? 0 : this.#sum / this.#compared,
      failed: this.failed,
      lastError: this.#lastError,
      interrupted: this.interrupted,
      skipped: this.skipped,
    };
  }
}
