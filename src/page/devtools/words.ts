import { candidateName, type Backend } from '../../contract/backends.js';
import { describeTime } from '../../contract/describe-value.js';
import type { MetricsSnapshot } from '../../contract/metrics.js';
import type { Verdict } from '../selection/verdicts.js';

/** Returns a size in words: `512 B`, `106 kB`, `1.4 MB`, `10.8 GB` */
export function inBytes(value: number): string {
  if (value < 1e3) return `${value} B`;
  if (value < 1e6) return `${Math.round(value / 1e3)} kB`;
  return value < 1e9 ? `${(value / 1e6).toFixed(1)} MB` : `${(value / 1e9).toFixed(1)} GB`;
}

/** Returns a count with its noun: `1 worker`, `2 workers`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Returns the engine and the backend that a worker runs on, with its threads and precision. */
export function describeBackend(backend: Backend): string {
  const { name, threads, precision } = backend;
  const parts = [candidateName(backend), name === 'wasm' ? counted(threads, 'thread') : '', precision ?? ''];
  return parts.filter((part) => part !== '').join(', ');
}

const PROOFS: Readonly<Record<Backend['proof'], string>> = {
  golden: 'correct on the golden examples',
  reference: 'correct by comparison with WASM',
  none: 'not compared',
};

/** Says how a backend was found correct, and how fast. */
export function describeProof({ proof, largestError, median }: Backend): string {
  const parts = [
    `Serves: ${PROOFS[proof]}`,
    largestError === undefined ? '' : `largest difference ${largestError.toPrecision(3)}`,
    median === undefined ? '' : `${describeTime(median)} a run`,
  ];
  return parts.filter((part) => part !== '').join(', ');
}

/** Says what an earlier visit found out about a candidate. */
export function describeVerdict({ compared, wrong, larger, median, excluded = [], failed }: Verdict): string {
  const different = wrong ?? larger?.wrong;
  const parts = [
    different === undefined ? '' : `computes wrongly: ${different}`,
    compared === true && different === undefined ? 'computes as WASM does' : '',
    median === undefined ? '' : `${describeTime(median)} a run`,
    failed ? `failed at ${counted(failed.visits, 'visit')}: ${failed.reason}` : '',
    ...excluded.map(({ precision, reason }) => `${precision} is left out: ${reason}`),
  ];
  return parts.filter((part) => part !== '').join('; ') || 'runs';
}

/** Returns how many requests were settled by outcome: `ok`, or the code of the error. */
export function outcomesOf({ counters }: MetricsSnapshot): ReadonlyMap<string, number> {
  const series = counters['ts_inference_requests_total'] ?? [];
  return new Map(series.map(({ labels, value }) => [labels['outcome'] ?? 'other', value]));
}

/** Describes them in one line: `ok 20, queue-full 3`. */
export function describeOutcomes(metrics: MetricsSnapshot): string {
  return Array.from(outcomesOf(metrics), ([outcome, count]) => `${outcome} ${count}`).join(', ') || 'none yet';
}

/** Returns a URL without its origin, if that is the page's, and without its query, which may hold a token. */
export function shortUrl(url: string, origin = globalThis.location?.origin): string {
  const [path = ''] = url.split(/[?#]/);
  return origin !== undefined && path.startsWith(`${origin}/`) ? path.slice(origin.length) : path;
}

/** Splits a verdict's key into the candidate, such as `onnx/wasm with 2 threads`, and the model's URL. */
export function readVerdictKey(key: string): { readonly candidate: string; readonly model: string } {
  const [, candidate = key, model = ''] = /^(\S+(?: with \d+ threads?)?) (.*)$/.exec(key) ?? [];
  return { candidate, model };
}
