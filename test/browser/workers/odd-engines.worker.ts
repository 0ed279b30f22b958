import { onnxWasm } from '../../../src/worker/engines/onnx-wasm.ts';
import { BaseHandler, expose, type EngineLoader, type Tensors } from '../../../src/worker-core.ts';

/** What `engine.odd` of the config asks for: WASM under another name, that is wrong, or slow. */
export interface Odd {
  /**
   * `element`: one of a thousand is off by a tenth; `nan`: one of them is not a number; `zeros`: NaN where the input is
   * zeros.
   */
  readonly wrong?: 'element' | 'nan' | 'zeros';
  /** All zeros on inputs of more numbers than this. */
  readonly above?: number;
  /** Milliseconds that a run takes longer, and opening. */
  readonly run?: number;
  readonly open?: number;
}

const wait = (ms = 0): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function odd(name: string): EngineLoader {
  return async (environment) => {
    const engine = await onnxWasm(environment);
    return {
      version: engine.version,
      threads: engine.threads,
      memory: () => engine.memory(),
      async open(files, path, options) {
        const {
          wrong,
          above = Infinity,
          run,
          open,
        } = ((options as { odd?: Record<string, Odd> }).odd ?? {})[name] ?? {};
        await wait(open);
        const session = await engine.open(files, path, options);
        return {
          inputs: session.inputs,
          outputs: session.outputs,
          [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
          async run(feeds: Tensors) {
            const outputs = await session.run(feeds);
            await wait(run);
            if (Object.values(feeds).some(({ data }) => data.length > above))
              return Object.fromEntries(
                Object.entries(outputs).map(([key, output]) => [
                  key,
                  { ...output, data: new Float32Array(output.data.length) },
                ]),
              );
            return wrong
              ? Object.fromEntries(
                  Object.entries(outputs).map(([key, output]) => [
                    key,
                    { ...output, data: spoil(output.data as Float32Array, wrong, feeds) },
                  ]),
                )
              : outputs;
          },
        };
      },
    };
  };
}

function spoil(right: Float32Array, wrong: NonNullable<Odd['wrong']>, feeds: Tensors): Float32Array {
  const data = right.slice();
  const isZero = Object.values(feeds).every((feed) => (feed.data as Float32Array).every((value) => value === 0));
  for (let index = 517 % data.length; index < data.length; index += 1000) {
    if (wrong === 'element') data[index] = data[index]! + 0.1;
    else if (wrong === 'nan' || isZero) data[index] = NaN;
  }
  return data;
}

expose(BaseHandler, { engines: { 'onnx/webgl': odd('webgl'), 'onnx/wasm': odd('wasm') } });
