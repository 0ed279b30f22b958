/** What every worker that is written by hand around ONNX Runtime does. */
import * as ort from 'onnxruntime-web/wasm';
import { THREADS } from '../model.ts';

/**
 * Has ONNX Runtime use this module. It asks for the bytes of its `.wasm`, and would compile them: the module is put in
 * their place.
 */
export function useModule(module: WebAssembly.Module): void {
  const { instantiate } = WebAssembly;
  WebAssembly.instantiate = (async (_: unknown, imports: WebAssembly.Imports) => ({
    module,
    instance: await instantiate(module, imports),
  })) as unknown as typeof WebAssembly.instantiate;
  ort.env.wasm.numThreads = THREADS;
  ort.env.wasm.wasmBinary = new ArrayBuffer(0);
}

/** Runs a model once, on zeros. A free dimension is 1. */
export async function runOnZeros(session: ort.InferenceSession): Promise<void> {
  await session.run(Object.fromEntries(session.inputMetadata.map((input) => [input.name, zeros(input)])));
}

function zeros(input: ort.InferenceSession.ValueMetadata): ort.Tensor {
  if (!input.isTensor) throw new Error(`${input.name} is no tensor.`);
  const dims = input.shape.map((size) => (typeof size === 'number' ? size : 1));
  return new ort.Tensor('float32', new Float32Array(dims.reduce((product, size) => product * size, 1)), dims);
}
