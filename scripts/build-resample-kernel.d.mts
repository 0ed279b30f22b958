/** The text of `src/transforms/resample.wasm.ts`. */
export function build(): Promise<string>;
