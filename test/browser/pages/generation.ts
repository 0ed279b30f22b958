/** Runs language models, as `window.generation`, and counts what is read back from a GPU and what is not freed. */
import type * as Ort from 'onnxruntime-web';
import type { Context, Params } from '../../../src/contract/handler.js';
import type { Session, Tensor, Tensors } from '../../../src/contract/tensors.js';
import { onnxWasm } from '../../../src/worker/engines/onnx-wasm.js';
import { onnxWebgpu } from '../../../src/worker/engines/onnx-webgpu.js';
import { KeptTensors } from '../../../src/worker/engines/onnx/kept-tensors.js';
import type { chooseToken } from '../../../src/worker/generation/generate.js';
import type { GeneratedText } from '../../../src/worker/generation/answer.js';
import { TextGenerator } from '../../../src/worker/tasks/writing/text-generator.js';
import { TextToText } from '../../../src/worker/tasks/writing/text-to-text.js';
import { createTestContext } from '../../../src/worker/host/test-context.js';
import { createFiles } from '../../../src/worker/models/files.js';
import { GpuTensor } from '../../../src/worker/tensors/gpu-tensor.js';

const counts = {
  /** Bytes of tensors on the GPU that were copied to where they are read. ONNX Runtime reads numbers of its own, too. */
  read: 0,
  /** The buffers of those tensors. */
  buffers: new WeakSet<GPUBuffer>(),
  /** Tensors on the GPU that were not given back. */
  live: new Set<object>(),
  /** Tensors that were given back more than once. */
  twice: 0,
  /** Tensors in the worker's memory that runs have kept. */
  kept: new Set<Tensor>(),
};

const { copyBufferToBuffer } = GPUCommandEncoder.prototype;
GPUCommandEncoder.prototype.copyBufferToBuffer = function (...args: unknown[]) {
  const [from, , to, , size] = args as [GPUBuffer, number, GPUBuffer, number, number];
  if (counts.buffers.has(from) && to.usage & GPUBufferUsage.MAP_READ) counts.read += size;
  (copyBufferToBuffer as (...given: unknown[]) => void).apply(this, args);
};

/** Counts an object until the method that gives its buffer back is called. */
function watch<T extends object>(made: T, method: keyof T, buffer: GPUBuffer): void {
  const giveBack = (made[method] as () => void).bind(made);
  counts.live.add(made);
  counts.buffers.add(buffer);
  made[method] = (() => {
    if (!counts.live.delete(made)) counts.twice += 1;
    counts.buffers.delete(buffer);
    giveBack();
  }) as never;
}

const { add, allocate } = KeptTensors.prototype;
KeptTensors.prototype.add = function (output: Ort.Tensor) {
  watch(output, 'dispose', output.gpuBuffer as GPUBuffer);
  return add.call(this, output);
};
KeptTensors.prototype.allocate = function (...args) {
  const tensor = allocate.call(this, ...args);
  watch(tensor.buffer, 'destroy', tensor.buffer);
  return tensor;
};

/** A model of `test/models/generation` with its handler. */
interface Opened {
  readonly sessions: readonly Session[];
  /** Answers a text. @param abortAfter aborts after this many runs of the model */
  ask(text: string, params?: Params, abortAfter?: number): Promise<GeneratedText>;
  /** Lets the choice of the next token fail. */
  fail: boolean;
  lose(): void;
  dispose(): Promise<void>;
}

async function open(
  name: string,
  models: Readonly<Record<string, string>>,
  config: Params = {},
  load = onnxWebgpu,
): Promise<Opened> {
  const root = `/test/models/generation/${name}/`;
  const bytes = async (path: string): Promise<Blob> => await (await fetch(root + path)).blob();
  const texts = ['tokenizer.json', 'tokenizer_config.json', 'generation_config.json', 'config.json'];
  const files = Object.fromEntries(await Promise.all(texts.map(async (path) => [path, await bytes(path)] as const)));
  const engine = await load({
    assets: `${location.origin}/node_modules/onnxruntime-web/dist/`,
    threads: 1,
    onLost: () => {},
  });
  const sessions: Session[] = [];
  const given = { files, config: { handler: config } };
  const opened = { fail: false };
  class Failing extends TextGenerator {
    protected override nextToken(...args: Parameters<typeof chooseToken>): number {
      if (opened.fail) throw new Error('No token is chosen.');
      return super.nextToken(...args);
    }
  }
  const handler = '' in models ? new Failing() : new TextToText();
  await handler.initialize({
    ...createTestContext(given),
    async open(node = '', options) {
      const path = models[node]!;
      const session = await engine.open(createFiles({ [path]: await bytes(path) }), path, {}, options);
      sessions.push(session);
      const run = session.run.bind(session);
      session.run = async (feeds, options) => {
        const outputs = await run(feeds, options);
        if (options?.keep)
          for (const tensor of Object.values(outputs)) if (!(tensor instanceof GpuTensor)) counts.kept.add(tensor);
        return outputs;
      };
      return session;
    },
  });
  return Object.assign(opened, {
    sessions,
    async ask(text: string, params: Params = {}, abortAfter = Infinity) {
      const aborter = new AbortController();
      let runs = 0;
      if (abortAfter === 0) aborter.abort();
      const heartbeat = (): void => {
        runs += 1;
        if (runs === abortAfter) aborter.abort();
      };
      const context: Context = { ...createTestContext({ ...given, params, signal: aborter.signal }), heartbeat };
      const [result] = await handler.handle([text], context);
      if (result instanceof Error) throw result;
      return result as GeneratedText;
    },
    lose: () => (sessions[0] as unknown as { device: GPUDevice }).device.destroy(),
    async dispose() {
      for (const session of sessions) await session[Symbol.asyncDispose]();
    },
  });
}

/** Returns the feeds of a decoder for three tokens, after some that have keys and no values. */
function feeds({ inputs }: Session, keys = 0): Tensors {
  return Object.fromEntries(
    inputs.map(({ name, dtype, dims }) => {
      if (!name.startsWith('past')) return [name, { dtype, dims: [1, 3], data: BigInt64Array.of(1n, 1n, 1n) }];
      const past = name.endsWith('key') ? keys : 0;
      const sizes = dims.map((size, axis) => (typeof size === 'number' ? size : axis === 0 ? 1 : past));
      const data = new Float32Array(sizes.reduce((product, size) => product * size, 1));
      return [name, { dtype, dims: sizes, data }];
    }),
  );
}

/** Returns which of the tensors are on the GPU. */
function onGpu(tensors: Tensors): string[] {
  return Object.keys(tensors).filter((name) => tensors[name] instanceof GpuTensor);
}

/** Returns how many tensors that runs have kept are still in the worker's memory. */
function kept(): number {
  for (const tensor of counts.kept) if (tensor.data.length === 0) counts.kept.delete(tensor);
  return counts.kept.size;
}

export const generation = {
  open,
  onWasm: (...[name, models, config]: Parameters<typeof open>) => open(name, models, config, onnxWasm),
  kept,
  feeds,
  onGpu,
  read: () => counts.read,
  live: () => counts.live.size,
  twice: () => counts.twice,
};
Object.assign(window, { generation });
