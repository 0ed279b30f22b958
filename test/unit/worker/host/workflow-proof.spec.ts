// The proof of a backend for a workflow: every node's model must be right, and an error names the node.
import { expect, test } from '@playwright/test';
import type { Archive } from '../../../../src/contract/archive.ts';
import type { Context, Handler } from '../../../../src/contract/handler.ts';
import type { Tensors } from '../../../../src/contract/tensors.ts';
import type { Sample } from '../../../../src/contract/wire.ts';
import { chooseCandidates } from '../../../../src/page/selection/candidates.ts';
import { BROWSER_CANDIDATES, type Probe } from '../../../../src/contract/backends.ts';
import { writeSafetensors } from '../../../../src/tools/cli/write-safetensors.ts';
import { BaseHandler } from '../../../../src/worker/handlers/base-handler.ts';
import { WorkflowHandler } from '../../../../src/worker/handlers/workflow-handler.ts';
import { OpenHandlers, type OpenHandler } from '../../../../src/worker/host/open-handlers.ts';
import { compareHandlers, measureHandlers, sampleHandlers, proveHandlers } from '../../../../src/worker/host/prove.ts';
import { Recorder } from '../../../../src/worker/host/recorder.ts';
import { stubSession } from '../../support/stub-session.ts';

const x = { dtype: 'float32', dims: [1, 2], data: Float32Array.of(1, 2) } as const;
const golden = (...y: number[]): Blob =>
  new Blob([
    writeSafetensors(
      { 'inputs/x': x, 'outputs/y': { dtype: 'float32', dims: [1, 2], data: Float32Array.from(y) } },
      {},
    ),
  ]);

const node = (name: string, example?: Blob, models: Archive['models'] = { onnx: `${name}.onnx` }): Archive => ({
  url: name,
  manifest: { model: { modelName: name, handler: 'base_handler' } },
  config: {},
  models,
  files: { [`${name}.onnx`]: new Blob(), ...(example && { 'g.safetensors': example }) },
  golden: example ? ['g.safetensors'] : [],
  integrity: {},
});
const whole = (nodes: Record<string, Archive>): Archive => ({ ...node('w', undefined, {}), nodes });

/** Opens all nodes. A node's model multiplies by `factors[name]`. */
async function open(
  archive: Archive,
  factors: Readonly<Record<string, number>>,
  dims: readonly (number | null)[] = [1, 2],
  Class?: new () => Handler,
): Promise<readonly OpenHandler[]> {
  class Opens extends WorkflowHandler {
    override async initialize(context: Context): Promise<void> {
      await super.initialize(context);
      for (const name of Object.keys(archive.nodes!)) await context.openHandler(name);
    }
    override inference = (): never[] => [];
  }
  const run =
    (path: string) =>
    ({ x }: Tensors): Tensors => ({
      y: { ...x!, data: (x!.data as Float32Array).map((value) => value * factors[path.replace('.onnx', '')]!) },
    });
  const parts = new OpenHandlers({
    engine: {
      version: '0',
      threads: 1,
      memory: () => 0,
      open: async (_, path) =>
        stubSession([{ name: 'x', dtype: 'float32', dims }], [{ name: 'y', dtype: 'float32', dims }], run(path)),
    },
    candidate: 'onnx/wasm',
    handlerOf: async () => BaseHandler,
    warn: () => {},
  });
  await parts.start(archive, Class ?? Opens, new Recorder());
  return parts.open;
}

test('a large example is left out where nothing follows from its run', async () => {
  const runs: string[] = [];
  const opened = (name: string, numbers: number): OpenHandler =>
    ({
      node: '',
      archive: node(name),
      environment: { config: {}, manifest: { model: {} } },
      handler: {
        exampleIsForModel: false,
        example: () => ({ x: { dtype: 'float32', dims: [1, numbers / 2, 2], data: new Float32Array(numbers) } }),
        inference: async () => void runs.push(name),
      },
    }) as unknown as OpenHandler;
  const [small, large] = [opened('small', 3 * 256 * 256), opened('large', 3 * 256 * 256 + 2)];
  for (const isSpared of [true, false]) {
    await proveHandlers([small!], isSpared);
    const tried = await proveHandlers([large!], isSpared);
    expect(tried).toEqual({ golden: 0, error: 0, suspicion: undefined });
  }
  // What is no tensor is the class's own business.
  await proveHandlers([{ ...small!, handler: { ...small!.handler, example: () => ({ length: 3 }) as never } }], true);
  expect(runs).toEqual(['small', 'small', 'large', 'small']);
});

test('golden examples of every node are run; a wrong one names its node', async () => {
  const both = whole({ a: node('a', golden(2, 4)), b: node('b', golden(3, 6)) });
  expect(await proveHandlers(await open(both, { a: 2, b: 3 }))).toEqual({
    golden: 2,
    error: 0,
    suspicion: undefined,
  });
  await expect(proveHandlers(await open(both, { a: 2, b: 4 }))).rejects.toMatchObject({
    code: 'backend-wrong',
    node: 'b',
    message: expect.stringMatching(/^Node "b": It computes wrongly: on g\.safetensors/),
  });
});

test('a node without golden examples leaves the workflow unproven, and is compared with the reference', async () => {
  const half = whole({ a: node('a', golden(2, 4)), b: node('b') });
  const right = await open(half, { a: 2, b: 3 });
  expect(await proveHandlers(right)).toMatchObject({ golden: 0 });
  const samples = await sampleHandlers(right);
  expect(new Set(samples.map((sample: Sample) => sample.node))).toEqual(new Set(['b']));
  expect(await compareHandlers(right, samples)).toEqual({ inputs: samples.length, error: 0, wrong: undefined });
  const { wrong, error } = await compareHandlers(await open(half, { a: 2, b: 5 }), samples);
  expect(wrong).toMatch(/^node "b": /);
  expect(error).toBeGreaterThan(0.1);
});

test('one node whose inputs cannot be generated: nothing is compared, nothing is measured', async () => {
  const parts = await open(whole({ a: node('a') }), { a: 1 }, [1, null]);
  expect(await sampleHandlers(parts)).toEqual([]);
  expect(await measureHandlers(parts, 1)).toBeUndefined();
});

test('the time of a run is that of all nodes; a shared archive is proven once', async () => {
  const shared = node('a', golden(2, 4));
  const parts = await open(whole({ a: shared, again: shared, b: node('b', golden(3, 6)) }), { a: 2, b: 3 });
  expect(parts.map((part) => part.node)).toEqual(['a', 'again', 'b', '']);
  expect(await proveHandlers(parts)).toMatchObject({ golden: 2 });
  expect(await measureHandlers(parts, 1)).toMatchObject({ median: expect.any(Number), runs: expect.any(Number) });
});

test('nodes that share an archive: one that reads the last token alone leaves the other one all tokens', async () => {
  const shared = node('a');
  const info = { dtype: 'float32', dims: [1, 2] } as const;
  class Last extends BaseHandler {
    override async initialize(context: Context): Promise<void> {
      await super.initialize({ ...context, open: (name) => context.open(name, { lastTokenOf: 'y' }) });
    }
  }
  /** Opens both, and returns what the engine has opened, and which of it a proof of each handler runs. */
  const openBoth = async (...classes: readonly (new () => BaseHandler)[]) => {
    const opened: (string | undefined)[] = [];
    class Opens extends WorkflowHandler {
      override async initialize(context: Context): Promise<void> {
        await super.initialize(context);
        for (const [at, Class] of classes.entries()) await context.openHandler(['one', 'two'][at]!, Class as never);
      }
      override inference = (): never[] => [];
    }
    const parts = new OpenHandlers({
      engine: {
        version: '0',
        threads: 1,
        memory: () => 0,
        open: async (_files, _path, _options, reads) => {
          const data = Float32Array.of(opened.push(reads?.lastTokenOf) - 1, 0);
          return stubSession([{ name: 'x', ...info }], [{ name: 'y', ...info }], () => ({ y: { ...info, data } }));
        },
      },
      candidate: 'onnx/wasm',
      handlerOf: async () => BaseHandler,
      warn: () => {},
    });
    await parts.start(whole({ one: shared, two: shared }), Opens, new Recorder());
    const run: number[] = [];
    for (const { environment } of parts.open.slice(0, 2))
      run.push((await (await environment.open()).run({})).y!.data[0] as number);
    return { opened, run };
  };
  expect(await openBoth(Last, BaseHandler)).toEqual({ opened: ['y', undefined], run: [0, 1] });
  expect(await openBoth(Last, Last)).toEqual({ opened: ['y'], run: [0, 0] });
  // All tokens have the last one.
  expect(await openBoth(BaseHandler, Last)).toEqual({ opened: [undefined], run: [0, 0] });
});

test('models that a handler opens without a handler of their own are proven, on examples that the handler knows', async () => {
  const asked: (string | undefined)[] = [];
  class Opens extends WorkflowHandler {
    override async initialize(context: Context): Promise<void> {
      await super.initialize(context);
      const [a, again] = [await context.open('a'), await context.open('a')];
      expect(a).toBe(again);
      expect(a.inputs.map(({ name }) => name)).toEqual(['x']);
      await context.open('b');
    }
    example(_: Context, name?: string): Tensors {
      asked.push(name);
      return { x: { ...x, data: Float32Array.of(7, name === 'a' ? 8 : 9) } };
    }
    override inference = (): never[] => [];
  }
  const openBoth = async (factors: Record<string, number>, b?: Blob): Promise<readonly OpenHandler[]> =>
    await open(whole({ a: node('a', golden(2, 4)), b: node('b', b) }), factors, [1, 2], Opens);
  const parts = await openBoth({ a: 2, b: 3 });
  expect(parts.map((part) => part.node)).toEqual(['a', 'b', '']);
  expect(await proveHandlers(parts)).toMatchObject({ golden: 0 });
  expect(new Set(asked)).toEqual(new Set(['a', 'b']));
  const samples = await sampleHandlers(parts);
  expect(samples[0]).toMatchObject({ node: 'b', feeds: { x: { data: Float32Array.of(7, 9) } } });
  expect((await compareHandlers(await openBoth({ a: 2, b: 5 }), samples)).wrong).toMatch(/^node "b": /);
  await expect(proveHandlers(await openBoth({ a: 2, b: 5 }, golden(3, 6)))).rejects.toMatchObject({
    code: 'backend-wrong',
    node: 'b',
  });
});

test('an engine runs a workflow if every node has a model for it', () => {
  const probe = {
    webgpu: { available: false, reason: 'none' },
    webgl: { available: false, reason: 'none' },
    webnn: { available: false, reason: 'none' },
    wasm: { available: true, simd: true, jspi: false, threads: false },
    crossOriginIsolated: false,
    cores: 2,
  } satisfies Probe;
  const choose = (archive: Archive, named?: readonly 'wasm'[]) =>
    chooseCandidates({ probe, built: BROWSER_CANDIDATES, archive, named });
  const mixed = { onnx: 'a.onnx', tfjs: 'a.json' };
  expect(choose(whole({ a: node('a', undefined, mixed), b: node('b') })).candidates).toEqual([
    { engine: 'onnx', name: 'wasm' },
  ]);
  const split = choose(whole({ a: node('a'), b: node('b', undefined, { tfjs: 'b.json' }) }), ['wasm']);
  expect(split.candidates).toEqual([]);
  expect(split.skipped.map(({ reason }) => reason)).toEqual([
    'Node "b" has no ONNX model.',
    'Node "a" has no TensorFlow.js model.',
  ]);
});
