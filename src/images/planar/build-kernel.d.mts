/** The text of `ycc.wasm.ts`. */
export function build(): Promise<string>;
