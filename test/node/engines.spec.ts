import { readFileSync } from 'node:fs';
import { expect, test as base } from '@playwright/test';
import { fetchLocal } from '../../src/server/node/platform.ts';
import { nodeEngines } from '../../src/server/node/engines.ts';
import { engineContract, tensorFlowContract, type Realm } from '../browser/engine-contract.ts';
import { tensors } from '../browser/golden-tensors.ts';
import { createBare } from '../browser/workers/bare-engine.ts';

const root = new URL('../../', import.meta.url).href;

/** Stands for a page: it evaluates in this process, where `window` has what the suite's functions use. */
const realm = { evaluate: async (work: (arg: unknown) => unknown, arg: unknown) => await work(arg) } as Realm;

const test = base.extend<{ backend: 'cpu'; open: () => Promise<Realm> }>({
  backend: async ({}, use) => await use('cpu'),
  open: async ({}, use) => {
    const engine = async (candidate: keyof typeof nodeEngines): Promise<ReturnType<typeof createBare>> => {
      const bare = createBare({ engines: nodeEngines, base: root, fetch: fetchLocal, lose: () => {} });
      await bare.start(candidate);
      return asMessages(bare);
    };
    // TensorFlow.js keeps its state in `window`, if there is one.
    Object.assign(globalThis, { window: globalThis, engine, tensors });
    await use(async () => realm);
    for (const name of ['window', 'engine', 'tensors']) Reflect.deleteProperty(globalThis, name);
  },
});

/** Returns an object whose methods are called in a task each, as by messages to a worker. */
function asMessages<T extends object>(target: T): T {
  return new Proxy(target, {
    get(_, name) {
      const method = Reflect.get(target, name) as ((...given: unknown[]) => unknown) | undefined;
      return (
        method &&
        (async (...given: unknown[]) => {
          await new Promise((resolve) => setImmediate(resolve));
          return await method(...given);
        })
      );
    },
  });
}

engineContract(test, { of: 'ONNX Runtime for Node', on: () => 'onnx/cpu' });
engineContract(test, { of: 'ONNX Runtime’s WASM under Node', on: () => 'onnx/wasm' });
engineContract(test, { of: 'TensorFlow.js under Node', on: () => 'tfjs/cpu' });
tensorFlowContract(test, { of: 'TensorFlow.js under Node', on: () => 'tfjs/cpu' });

/** What NumPy answers for models that ONNX Runtime's Pad_Fusion changes. */
const padding = JSON.parse(readFileSync(new URL('test/models/padding/expected.json', root), 'utf8')) as Record<
  string,
  { readonly dims: number[]; readonly data: number[] }
>;

for (const candidate of ['onnx/cpu', 'onnx/wasm'] as const)
  test(`a Pad before a pooling stays one, wherever it is: ${candidate}`, async () => {
    const bare = createBare({ engines: nodeEngines, base: root, fetch: fetchLocal, lose: () => {} });
    await bare.start(candidate);
    const x = {
      dtype: 'float32',
      dims: [1, 1, 4, 4],
      data: Float32Array.from({ length: 16 }, (_, at) => -1 - at),
    } as const;
    for (const [name, { dims, data }] of Object.entries(padding)) {
      const { value: session, error } = await bare.open(`/test/models/padding/${name}.onnx`);
      expect(error, name).toBeUndefined();
      const { y } = (await bare.run(session!, { x })).value!;
      expect(y!.dims, name).toEqual(dims);
      for (const [at, value] of data.entries()) expect(y!.data[at], `${name} ${at}`).toBeCloseTo(value, 5);
    }
  });
