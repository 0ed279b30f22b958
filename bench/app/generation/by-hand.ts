/** What one writes without a library: ONNX Runtime on the page, and a loop that feeds the cache back. */
import type { Tensor } from 'onnxruntime-web';

/** Generates tokens by the highest logit. @param onToken is called after each of them */
export type Loop = (prompt: readonly number[], count: number, onToken: () => void) => Promise<void>;

/** Of the outputs on WebGPU: the cache of the model's six layers stays on the GPU. */
const LOCATIONS = Object.fromEntries(
  [0, 1, 2, 3, 4, 5].flatMap((layer) =>
    ['key', 'value'].map((part) => [`present.${layer}.${part}`, 'gpu-buffer'] as const),
  ),
);

export async function openLoop(url: string, backend: 'wasm' | 'webgpu'): Promise<Loop> {
  const ort = backend === 'wasm' ? await import('onnxruntime-web/wasm') : await import('onnxruntime-web/webgpu');
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.wasmPaths = {
    wasm:
      backend === 'wasm'
        ? new URL('onnxruntime-web/ort-wasm-simd-threaded.wasm', import.meta.url)
        : new URL('onnxruntime-web/ort-wasm-simd-threaded.asyncify.wasm', import.meta.url),
  };
  const model = new Uint8Array(await (await fetch(url)).arrayBuffer());
  const session = await ort.InferenceSession.create(model, {
    executionProviders: [backend],
    ...(backend === 'webgpu' && { preferredOutputLocation: LOCATIONS }),
  });
  const pasts = session.inputMetadata.filter(({ name }) => name.startsWith('past')) as readonly {
    readonly name: string;
    readonly shape: readonly (number | string)[];
  }[];
  return async (prompt, count, onToken) => {
    let cache: Record<string, Tensor> = Object.fromEntries(
      pasts.map(({ name, shape }) => {
        const dims = shape.map((size, axis) => (typeof size === 'number' ? size : axis === 0 ? 1 : 0));
        return [name, new ort.Tensor('float32', new Float32Array(0), dims)];
      }),
    );
    const hasPositions = session.inputNames.includes('position_ids');
    let fresh = prompt;
    for (let length = prompt.length; length < prompt.length + count; length++) {
      const integers = (values: readonly number[]): Tensor =>
        new ort.Tensor('int64', BigInt64Array.from(values, BigInt), [1, values.length]);
      const outputs = await session.run({
        input_ids: integers(fresh),
        attention_mask: new ort.Tensor('int64', new BigInt64Array(length).fill(1n), [1, length]),
        ...(hasPositions && { position_ids: integers(fresh.map((_, at) => length - fresh.length + at)) }),
        ...cache,
      });
      const { data, dims } = outputs['logits']!;
      const logits = (data as Float32Array).subarray(-dims[2]!);
      let best = 0;
      for (let token = 1; token < logits.length; token++) if (logits[token]! > logits[best]!) best = token;
      onToken();
      fresh = [best];
      for (const past of Object.values(cache)) past.dispose();
      cache = Object.fromEntries(
        pasts.map(({ name }) => [name, outputs[name.replace('past_key_values', 'present')]!] as const),
      );
    }
  };
}
