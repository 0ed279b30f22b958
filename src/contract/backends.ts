export const BACKENDS = ['webgpu', 'webgl', 'wasm', 'cpu'] as const;
export type BackendName = (typeof BACKENDS)[number];

/** ONNX Runtime, for `.onnx`, and TensorFlow.js, for `model.json` with its weight shards. */
export const ENGINES = ['onnx', 'tfjs'] as const;
export type EngineName = (typeof ENGINES)[number];

/** Every engine on every backend that it has, in the order in which they are tried by default where the GPU is real. */
export const CANDIDATES = [
  'onnx/webgpu',
  'tfjs/webgpu',
  'tfjs/webgl',
  'onnx/webgl',
  'onnx/wasm',
  'tfjs/wasm',
  'tfjs/cpu',
] as const;
/** An engine on a backend, e.g. `onnx/webgpu`. */
export type CandidateName = (typeof CANDIDATES)[number];

/** What this browser has, as seen inside a worker. */
export interface Probe {
  readonly webgpu:
    | {
        readonly available: true;
        readonly vendor: string;
        readonly architecture: string;
        readonly description: string;
        /** A CPU in disguise. */
        readonly software: boolean;
        readonly fp16: boolean;
        /** Largest sizes of the adapter, in bytes. */
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
        /** Whether it can render to float textures, as TensorFlow.js needs it to. */
        readonly floatRendering: boolean;
        /** Longest side of a texture, in pixels. */
        readonly maxTextureSize: number;
      }
    | { readonly available: false; readonly reason: string };
  readonly wasm:
    | {
        readonly available: true;
        readonly simd: boolean;
        readonly jspi: boolean;
        /** Whether there can be more than one thread. */ readonly threads: boolean;
      }
    | { readonly available: false; readonly reason: string };
  readonly crossOriginIsolated: boolean;
  readonly cores: number;
}

/** A candidate that does not run, and why. */
export interface Skipped {
  readonly engine: EngineName;
  readonly name: BackendName;
  readonly reason: string;
}

/** What runs, and why everything before it does not. */
export interface Backend {
  readonly engine: EngineName;
  readonly name: BackendName;
  /** Threads that the engine computes with (WASM). */
  readonly threads: number;
  /** By what its answers were found right: the archive's golden examples, or a comparison with WASM. */
  readonly proof: 'golden' | 'reference' | 'none';
  /** Milliseconds of a run of the model, the median, where it was measured. */
  readonly median?: number;
  readonly skipped: readonly Skipped[];
}
