export const BACKENDS = ['webgpu', 'webgl', 'wasm', 'cpu'] as const;
/** Where a model runs. */
export type BackendName = (typeof BACKENDS)[number];

/** ONNX Runtime, for `.onnx`, and TensorFlow.js, for `model.json` with its weight shards. */
export const ENGINES = ['onnx', 'tfjs'] as const;
/** What runs a model. */
export type EngineName = (typeof ENGINES)[number];

/** Every engine on each of its backends, in the default order on a real GPU. */
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

/** What this browser offers, as found inside a worker. */
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

/** A candidate that is not used, and why. */
export interface Skipped {
  readonly engine: EngineName;
  readonly name: BackendName;
  readonly reason: string;
}

/** The backend that runs, and why those that were preferred do not. */
export interface Backend {
  readonly engine: EngineName;
  readonly name: BackendName;
  /** Threads that the engine computes with (WASM). */
  readonly threads: number;
  /** How its outputs were proven correct: by the archive's golden examples, or by a comparison with WASM. */
  readonly proof: 'golden' | 'reference' | 'none';
  /** Median milliseconds of a run of the model, if it was measured. */
  readonly median?: number;
  readonly skipped: readonly Skipped[];
}
