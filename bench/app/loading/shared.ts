/** What a worker that is written by hand gets. It answers with the `.wasm` that it has compiled, or was given. */
export interface SharedRequest {
  /** Of the model's file. */
  readonly url: string;
  /** The `.wasm` as an earlier worker has compiled it. */
  readonly module: WebAssembly.Module | undefined;
}
