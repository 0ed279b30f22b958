/** What a device has, and how models have run on it: a file that its holder can read, save and send. */
import type { Backend, Probe } from './backends.js';

export const REPORT_FORMAT = 'tabserve-device-report';
/** A report with another number cannot be read. */
export const REPORT_VERSION = 1;

/** Quantiles of a measured time, in milliseconds. */
export interface ReportedTime {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
}

/** A model of the page, and how it has run. */
export interface ReportedModel {
  readonly name: string;
  /** The backend that serves, and why the others do not; undefined if the model is not open. */
  readonly backend?: Backend | undefined;
  /** By the name of the metric. */
  readonly times: Readonly<Record<string, ReportedTime>>;
  /** Number of requests by outcome: `ok`, or the code of the error. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** The client's log, with what was tried and what failed. */
  readonly log: readonly string[];
}

/** What an earlier visit found out about a candidate. */
export interface ReportedVerdict {
  /** Such as `onnx/wasm with 2 threads`. */
  readonly candidate: string;
  /** The model's URL. */
  readonly model: string;
  readonly verdict: string;
}

/**
 * What a device has, and how models have run on it. It has no inputs and no answers, and its URLs have neither query
 * nor password.
 */
export interface DeviceReport {
  readonly format: typeof REPORT_FORMAT;
  readonly formatVersion: typeof REPORT_VERSION;
  /** The version of TabServe. */
  readonly tabserve: string;
  /** When it was made, as ISO 8601. */
  readonly at: string;
  /** The browser's user agent. */
  readonly browser: string;
  /** What the browser has, as a worker sees it; undefined if no model was opened. */
  readonly device?: Probe | undefined;
  readonly models: readonly ReportedModel[];
  readonly verdicts: readonly ReportedVerdict[];
}
