import type { CandidateName } from '../../src/index.js';

/**
 * How a backend's outputs compare with those of WASM: it is WASM itself, they agree, they differ, or WASM does not run
 * the model.
 */
export const PROOFS = ['reference', 'right', 'wrong', 'none'] as const;
type Proof = (typeof PROOFS)[number];

export interface Measured {
  readonly candidate: CandidateName;
  readonly state: 'measured';
  /** Milliseconds of a run of the model. Nine of ten runs are between `low` and `high`. */
  readonly median: number;
  readonly low: number;
  readonly high: number;
  readonly proof: Proof;
  /** The largest absolute difference from WASM's outputs, and the largest value of these. */
  readonly error: number;
  readonly scale: number;
  /** What is wrong, in words; empty if nothing is. */
  readonly wrong: string;
}

export interface Skipped {
  readonly candidate: CandidateName;
  readonly state: 'skipped';
  readonly reason: string;
}

/** A candidate, and its result so far. */
export type Row =
  | { readonly candidate: CandidateName; readonly state: 'waiting' | 'measuring' | 'canceled' }
  | Measured
  | Skipped;

/** The device, as its browser describes it. */
export interface Device {
  /** Browser with its version, and operating system. */
  readonly browser: string;
  /** The GPU that WebGPU or WebGL names; empty if neither runs. */
  readonly gpu: string;
  /** Whether this GPU is emulated on the CPU. */
  readonly software: boolean;
  readonly cores: number;
  /** Whether WebAssembly has threads. */
  readonly threads: boolean;
}

/** The result of one run on one device. */
export interface Card {
  readonly model: string;
  readonly device: Device;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly rows: readonly (Measured | Skipped)[];
}

/** A row with its place in the ranking, if it has one. */
export interface Ranked {
  readonly row: Row;
  readonly place: number | undefined;
}

const ORDER: Readonly<Record<Row['state'], number>> = {
  measured: 0,
  measuring: 2,
  waiting: 3,
  canceled: 3,
  skipped: 4,
};

/**
 * Sorts rows: the fastest first, then those that compute wrongly, those that wait, and those that do not run. Only what
 * is not wrong has a place.
 */
export function rank(rows: readonly Row[]): readonly Ranked[] {
  const group = (row: Row): number => (isWrong(row) ? 1 : ORDER[row.state]);
  const median = (row: Row): number => (row.state === 'measured' ? row.median : 0);
  const sorted = [...rows].sort((a, b) => group(a) - group(b) || median(a) - median(b));
  return sorted.map((row, index) => ({ row, place: group(row) === 0 ? index + 1 : undefined }));
}

/** Returns whether a candidate has a result. */
export function isRun(row: Row): row is Measured | Skipped {
  return row.state === 'measured' || row.state === 'skipped';
}

/**
 * Returns whether a candidate computes wrongly. The SDK itself refuses to run ONNX Runtime's WebGL then, and says so in
 * the reason.
 */
export function isWrong(row: Row): boolean {
  return row.state === 'measured'
    ? row.proof === 'wrong'
    : row.state === 'skipped' && row.reason.startsWith('It computes wrongly');
}

/** Returns the result in one sentence, and what else there is to know in another. */
export function conclude(rows: readonly Row[]): { readonly headline: string; readonly rest: string } {
  const [best, ...others] = rank(rows).flatMap(({ row, place }) => (place && row.state === 'measured' ? [row] : []));
  const wrong = rows.filter(isWrong).map(({ candidate }) => title(candidate));
  const skipped = rows.filter((row) => row.state === 'skipped' && !isWrong(row)).length;
  const wasm = others.find(({ candidate }) => candidate === `${best!.candidate.split('/')[0]}/wasm`);
  const times = best && wasm && best.median > 0 ? `, ${factor(wasm.median / best.median)} as fast as WASM` : '';
  const ran = best ? 1 + others.length : 0;
  return {
    headline: best ? `${title(best.candidate)} is the fastest${times}` : 'No backend computes this model correctly',
    rest: [
      ...(best ? [`${ran} of ${rows.length} backends run it${wrong.length > 0 ? ' correctly' : ''}.`] : []),
      ...(wrong.length > 0
        ? [
            `${wrong.join(' and ')} ${wrong.length > 1 ? 'compute' : 'computes'} wrongly, so TabServe does not use ${wrong.length > 1 ? 'them' : 'it'}.`,
          ]
        : []),
      ...(skipped > 0 ? [`The other${skipped > 1 ? ` ${skipped} do` : ' does'} not run, for the reasons below.`] : []),
    ].join(' '),
  };
}

function factor(value: number): string {
  return `${value.toLocaleString('en', { maximumFractionDigits: value < 9.95 ? 1 : 0 })} times`;
}

const BACKENDS = { webgpu: 'WebGPU', webgl: 'WebGL', webnn: 'WebNN', wasm: 'WASM', cpu: 'JavaScript' } as const;
const ENGINES = { onnx: 'ONNX Runtime', tfjs: 'TensorFlow.js' } as const;

/** Returns the names of a candidate's backend and engine. */
export function namesOf(candidate: CandidateName): { readonly backend: string; readonly engine: string } {
  const [engine, backend] = candidate.split('/') as [keyof typeof ENGINES, keyof typeof BACKENDS];
  return { backend: BACKENDS[backend], engine: ENGINES[engine] };
}

function title(candidate: CandidateName): string {
  const { backend, engine } = namesOf(candidate);
  return `${backend} with ${engine}`;
}
