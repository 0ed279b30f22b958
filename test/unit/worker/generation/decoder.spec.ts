// Which decoders let a token see those after it: tiny models of random weights on ONNX Runtime under Node.
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import type { Session } from '../../../../src/contract/tensors.ts';
import { startEngine } from '../../../../src/server/node/engines.ts';
import { Decoder } from '../../../../src/worker/generation/decoder.ts';
import { readInterface } from '../../../../src/worker/generation/decoder-interface.ts';
import { Embedder } from '../../../../src/worker/generation/embedder.ts';
import { SoftTokens } from '../../../../src/worker/generation/soft-tokens.ts';
import { createFiles } from '../../../../src/worker/models/files.ts';

const MODELS = new URL('../../../models/', import.meta.url);
/** With a mask, a window, float16, weights of 4 bits, one fused operator for attention, a state that does not grow. */
const CAUSAL = [
  'generation/llama/onnx/model',
  'generation/gemma3/onnx/model',
  'generation/gpt2/onnx/model',
  'generation/llama_fused/onnx/model',
  'generation/quantized/fp16',
  'generation/quantized/q4',
  'pictures/gemma3/onnx/decoder_model_merged',
  'pictures/qwen3-vl/onnx/decoder_model_merged',
  'pictures/qwen3.5/onnx/decoder_model_merged',
  'pictures/lfm2-vl/onnx/decoder_model_merged',
];

async function open(path: string, vectors?: Embedder['vectors']): Promise<Decoder> {
  const engine = await startEngine('onnx/cpu');
  const session = async (name: string): Promise<Session> => {
    const data = readFileSync(new URL(`${name}.onnx`, MODELS));
    return await engine.open(createFiles({ 'model.onnx': new Blob([data as never]) }), 'model.onnx', {});
  };
  const decoder = await session(path);
  const model = readInterface(decoder, 'text_generator');
  if (model.ids) return new Decoder(decoder, model);
  const embedder = new Embedder(await session(path.replace('decoder_model_merged', 'embed_tokens')), model);
  embedder.vectors = vectors;
  return new Decoder(decoder, model, embedder);
}

for (const path of CAUSAL)
  test(`${path}: each token sees only those before it`, async () => {
    const decoder = await open(path);
    expect(await decoder.isCausal([5, 17, 40, 9])).toBe(true);
    // One token alone, twice.
    expect(await (await open(path)).isCausal([0])).toBe(true);
  });

test('PaliGemma: a token sees those after it, too', async () => {
  for (const tokens of [[5, 17, 40, 9], [0], [7, 7]])
    expect(await (await open('pictures/paligemma/onnx/decoder_model_merged')).isCausal(tokens)).toBe(false);
});

test('PaliGemma: its text tells it of a picture without a motif, whose first vectors are nearly the same', async () => {
  const kept = { set() {}, get() {}, has: () => true, delete() {} };
  const vectors = new SoftTokens(kept as never);
  const data = Float32Array.from({ length: 4 * 32 }, (_, at) => Math.sin(at % 32) + at * 1e-6);
  const source = { key: 'white', token: 5, count: 4 };
  const { first } = await vectors.hold(source, async () => ({ dtype: 'float32', dims: [4, 32], data }));
  const picture = [0, 1, 2, 3].map((at) => first + at);
  const decoder = await open('pictures/paligemma/onnx/decoder_model_merged', vectors);
  expect(await decoder.isCausal([...picture, 9])).toBe(false);
});
