/** The files that engines load at run time, as the modules of `engines/` name them. A test compares them with these modules. */
export const ENGINE_FILES = [
  ...['', '.jspi', '.asyncify'].flatMap((build) =>
    ['wasm', 'mjs'].map((type) => `onnxruntime-web/ort-wasm-simd-threaded${build}.${type}`),
  ),
  '@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-simd.wasm',
] as const;
