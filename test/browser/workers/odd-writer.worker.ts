import { onnxWasm } from '../../../src/worker/engines/onnx-wasm.ts';
import { expose, TextGenerator, type EngineLoader, type Tensors } from '../../../src/worker-core.ts';

/** WASM under another name, which prefers token 7 when a text has as many tokens as `engine.oddFrom` says. */
const odd: EngineLoader = async (environment) => {
  const engine = await onnxWasm(environment);
  return {
    version: engine.version,
    threads: engine.threads,
    memory: () => engine.memory(),
    async open(files, path, options) {
      const session = await engine.open(files, path, options);
      const { oddFrom } = options as { readonly oddFrom?: number };
      return {
        inputs: session.inputs,
        outputs: session.outputs,
        [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
        async run(feeds: Tensors) {
          const outputs = await session.run(feeds);
          const { logits } = outputs;
          if (feeds['attention_mask']!.dims[1] !== oddFrom) return outputs;
          const data = (logits!.data as Float32Array).slice();
          data[data.length - logits!.dims[2]! + 7] = 1000;
          return { ...outputs, logits: { ...logits!, data } as typeof logits & object };
        },
      };
    },
  };
};

expose(TextGenerator, { engines: { 'onnx/webgl': odd, 'onnx/wasm': onnxWasm } });
