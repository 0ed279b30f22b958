import type { Precision } from './precisions.js';

export const BACKENDS = ['webgpu', 'webgl', 'webnn', 'wasm', 'cpu', 'remote'] as const;
/** A kind of hardware, or of browser API, that a model runs on; `remote`: a server that the app names. */
export type BackendName = (typeof BACKENDS)[number];

/** ONNX Runtime's, `.onnx`, and TensorFlow.js's, `model.json` with its weight shards. */
export const MODEL_FORMATS = ['onnx', 'tfjs'] as const;
/** A format of a model's files: the name of the engine that opens them. */
export type ModelFormat = (typeof MODEL_FORMATS)[number];

/** A library that runs models; `remote` asks a server, and opens no file. */
export type EngineName = ModelFormat | 'remote';

/** Every engine on each of its backends in a browser, in the default order on a real GPU. */
export const BROWSER_CANDIDATES = [
  'onnx/webgpu',
  'tfjs/webgpu',
  'tfjs/webgl',
  'onnx/webgl',
  'onnx/webnn',
  'onnx/wasm',
  'tfjs/wasm',
  'tfjs/cpu',
  'remote/http',
] as const;
/** Those of a browser, and onnxruntime-node, which runs under Node alone. */
export const CANDIDATES = ['onnx/cpu', ...BROWSER_CANDIDATES] as const;
/** An engine on a backend, e.g. `onnx/webgpu`. */
export type CandidateName = (typeof CANDIDATES)[number];

/** An engine on a backend. */
export interface Candidate {
  readonly engine: EngineName;
  readonly name: BackendName;
  /**
   * Number of threads that the engine is to compute with, where several numbers are measured (WASM).
   * @default the engine's default
   */
  readonly threads?: number | undefined;
}

/** Returns the name of a candidate, such as `onnx/webgl`. That of a server is `remote/http`. */
export function candidateName({ engine, name }: Candidate): CandidateName {
  return engine === 'remote' ? 'remote/http' : (`${engine}/${name}` as CandidateName);
}

/** Returns the candidate of a name. */
export function candidateOf(candidate: CandidateName): Candidate {
  if (candidate === 'remote/http') return { engine: 'remote', name: 'remote' };
  const [engine, name] = candidate.split('/') as [ModelFormat, BackendName];
  return { engine, name };
}

/** Returns the format of an engine's files; undefined for the engine that opens none. */
export function formatOfEngine(engine: EngineName): ModelFormat | undefined {
  return engine === 'remote' ? undefined : engine;
}

/** Returns the formats of a model in one text, such as `onnx tfjs`. */
export function formatsKey(formats: readonly ModelFormat[]): string {
  return MODEL_FORMATS.filter((format) => formats.includes(format)).join(' ');
}

/** Returns whether two candidates are the same engine on the same backend, with any number of threads. */
export function isSameCandidate(a: Candidate, b: Candidate | undefined): boolean {
  return a.engine === b?.engine && a.name === b.name;
}

/**
 * Returns whether a candidate computes every model correctly, so that there is nothing to compare it with: WASM, and
 * plain JavaScript.
 */
export function isReference({ name }: Pick<Candidate, 'name'>): boolean {
  return name === 'wasm' || name === 'cpu';
}

/** Returns a candidate's name with its number of threads, if it has one: `onnx/wasm with 2 threads`. */
export function describeCandidate({ threads, ...candidate }: Candidate): string {
  const name = candidateName(candidate);
  return threads === undefined ? name : `${name} with ${describeThreads(threads)}`;
}

/** Returns a number of threads in words: `1 thread`, `2 threads`. */
export function describeThreads(threads: number): string {
  return `${threads} ${threads === 1 ? 'thread' : 'threads'}`;
}

export const POWER_PREFERENCES = ['high-performance', 'low-power'] as const;
/** Which GPU of several the browser should choose: WebGPU's `powerPreference`, which WebGL and WebNN have, too. */
export type PowerPreference = (typeof POWER_PREFERENCES)[number];

/** The browser's capabilities, as a worker sees them. */
export interface Probe {
  readonly webgpu:
    | {
        readonly available: true;
        readonly vendor: string;
        readonly architecture: string;
        readonly description: string;
        /** Whether the GPU is emulated on the CPU. */
        readonly software: boolean;
        readonly fp16: boolean;
        /** The adapter's limits, in bytes. */
        readonly limits: {
          readonly maxBufferSize: number;
          readonly maxStorageBufferBindingSize: number;
          readonly maxComputeWorkgroupStorageSize: number;
        };
      }
    | { readonly available: false; readonly reason: string };
  readonly webgl:
    | {
        readonly available: true;
        readonly renderer: string;
        readonly software: boolean;
        /** Whether WebGL can render to float textures, which TensorFlow.js needs. */
        readonly floatRendering: boolean;
        /** Longest side of a texture, in pixels. */
        readonly maxTextureSize: number;
      }
    | { readonly available: false; readonly reason: string };
  readonly webnn: { readonly available: true } | { readonly available: false; readonly reason: string };
  readonly wasm:
    | {
        readonly available: true;
        readonly simd: boolean;
        readonly jspi: boolean;
        /** Whether more than one thread is possible. */ readonly threads: boolean;
      }
    | { readonly available: false; readonly reason: string };
  readonly crossOriginIsolated: boolean;
  readonly cores: number;
  /** GB of memory that the browser reports, at most 8 or 32; undefined in Firefox and Safari, which report none. */
  readonly memory?: number;
}

/** Where the nodes of a model's graph run, as the engine has optimized it. */
export interface GraphNodes {
  readonly total: number;
  /** How many run on WASM because the backend cannot run them. */
  readonly onWasm: number;
  /** Their operators, such as `Gather`. */
  readonly operators: readonly string[];
}

/** A candidate that is not used, with the reason. */
export interface Skipped extends Candidate {
  /**
   * The precision of the model that failed there, if it was not the last: another one was tried on the same backend.
   */
  readonly precision?: Precision;
  readonly reason: string;
}

/** The backend that runs the model, and the preferred backends that were skipped, with reasons. */
export interface Backend {
  readonly engine: EngineName;
  readonly name: BackendName;
  /** Number of threads that the engine computes with (WASM). */
  readonly threads: number;
  /**
   * Nodes of the model's graph, and how many of them run on WASM because the backend cannot run them. Only WebNN
   * reports it.
   */
  readonly nodes?: GraphNodes;
  /**
   * The precision of the model's file, if the model is there in several; undefined if there is only one, also that of
   * `tabserve optimize` without `--keep`, and of a model in parts whose precisions differ.
   */
  readonly precision?: Precision;
  /** How its outputs were proven correct: by the archive's golden examples, or by a comparison with WASM. */
  readonly proof: 'golden' | 'reference' | 'none';
  /**
   * The largest absolute difference from the expected outputs, if its outputs were compared when it was opened. A
   * verdict from an earlier visit has none.
   */
  readonly largestError?: number;
  /** The median latency of a run of the model, in milliseconds, if it was measured. */
  readonly median?: number;
  readonly skipped: readonly Skipped[];
}
