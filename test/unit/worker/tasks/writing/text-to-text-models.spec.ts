/** The two models of `text_to_text`: where they are found, and what they certainly are not. */
import { expect, test } from '@playwright/test';
import type { ModelConfig } from '../../../../../src/contract/archive.ts';
import type { Precision } from '../../../../../src/contract/precisions.ts';
import type { Session, TensorInfo } from '../../../../../src/contract/tensors.ts';
import { createTestContext } from '../../../../../src/worker.ts';
import { loadHandler } from '../../../../../src/worker/handlers/registry.ts';
import { TextToText } from '../../../../../src/worker/tasks/writing/text-to-text.ts';
import { fetchWorkflow } from '../../../../../src/worker/models/fetch.ts';
import { buildZip } from '../../../support/zip-builder.ts';
import { GENERATION } from '../../generation/models.ts';
import { blobs, code, filesOf, open, type FileTree } from '../../generation/pair-models.ts';

test('a folder and its archives answer the same, with a precision of its own for each model', async () => {
  const files = filesOf('marian');
  const { prompt, text } = GENERATION['marian']!.prompts[0]!;
  const zip = buildZip(Object.entries(files).map(([name, data]) => ({ name, data, method: 8 })));
  const zipped = await open(new File([zip], 'marian.zip'));
  expect((await zipped.ask(prompt)).text).toBe(text);
  // The same weights under another name are enough to see which file is taken.
  const twins = {
    ...files,
    'onnx/decoder_model_merged_q4.onnx': files['onnx/decoder_model_merged.onnx']!,
    'onnx/encoder_model_quantized.onnx': files['onnx/encoder_model.onnx']!,
  };
  const taken = async (dtype: NonNullable<ModelConfig['engine']>['dtype'], own: FileTree = {}): Promise<unknown> => {
    const { archive, ask } = await open(blobs({ ...twins, ...own }), { engine: dtype === undefined ? {} : { dtype } });
    expect((await ask(prompt)).text).toBe(text);
    return Object.values(archive.nodes!).map(({ models }) => models.onnx);
  };
  const read = async (name: string, dtype: Record<string, Precision>): Promise<unknown> =>
    await fetchWorkflow(blobs(filesOf(name)), { fetch, handlerClass: loadHandler, config: { engine: { dtype } } });
  const [encoder, decoder] = ['onnx/encoder_model', 'onnx/decoder_model_merged'];
  expect(await taken(undefined)).toEqual([`${encoder}.onnx`, `${decoder}.onnx`]);
  const both = { encoder: 'q8', decoder: 'q4' } as const;
  expect(await taken(both)).toEqual([`${encoder}_quantized.onnx`, `${decoder}_q4.onnx`]);
  expect(await taken({ decoder: 'q4' })).toEqual([`${encoder}.onnx`, `${decoder}_q4.onnx`]);
  const config = JSON.parse(new TextDecoder().decode(files['config.json'] as Uint8Array)) as object;
  const named = {
    ...config,
    'transformers.js_config': { dtype: { encoder_model: 'fp32', decoder_model_merged: 'q4' } },
  };
  expect(await taken(undefined, { 'config.json': JSON.stringify(named) })).toEqual([
    `${encoder}.onnx`,
    `${decoder}_q4.onnx`,
  ]);
  await expect(taken('fp16')).rejects.toThrow(code('model-not-found', 'Node "encoder"'));
  await expect(taken({ decode: 'q4' })).rejects.toThrow(code('model-config', 'expected encoder, decoder'));
  // A model of pictures and text has one of the architectures, too.
  const vision = { 'config.json': JSON.stringify({ ...config, is_encoder_decoder: undefined }) };
  await expect(taken(undefined, vision)).rejects.toThrow(code('model-config', 'is_encoder_decoder is missing'));
  await expect(read('qwen3', { decoder: 'fp32' })).rejects.toThrow(code('model-config', 'the model is one file'));
  const { 'onnx/decoder_model_merged.onnx': half, ...without } = files;
  for (const own of [without, { ...without, 'onnx/decoder_model.onnx': half! }])
    await expect(open(blobs(own))).rejects.toThrow(code('model-not-found', 'onnx/decoder_model_merged.onnx'));
});

const info = (name: string, dims: TensorInfo['dims'], dtype: TensorInfo['dtype'] = 'float32'): TensorInfo => ({
  name,
  dtype,
  dims,
});
const IDS = info('input_ids', ['batch', 'length'], 'int64');
const HIDDEN = info('encoder_hidden_states', ['batch', 'length', 8]);
const CACHE = ['decoder', 'encoder'].map((half) => info(`past_key_values.0.${half}.key`, ['batch', 2, half, 4]));
const PRESENT = CACHE.map((one) => ({ ...one, name: one.name.replace('past_key_values', 'present') }));
const LOGITS = info('logits', ['batch', 'length', 480]);
const FLAG = info('use_cache_branch', [1], 'bool');
const session = (inputs: readonly TensorInfo[], outputs: readonly TensorInfo[]): Session => ({
  inputs,
  outputs,
  run: () => Promise.reject(new Error('It is not to be run.')),
  [Symbol.asyncDispose]: () => Promise.resolve(),
});

test('what encoder and decoder certainly are not is told at load', async () => {
  const states = info('last_hidden_state', ['batch', 'length', 8]);
  const good = {
    encoder: session([IDS], [states]),
    decoder: session([IDS, HIDDEN, ...CACHE, FLAG], [LOGITS, ...PRESENT]),
  };
  const files = Object.fromEntries(
    Object.entries(filesOf('t5')).filter(([path]) => path.startsWith('tokenizer') || path.startsWith('generation')),
  );
  const load = async (own: Partial<typeof good>, more: Record<string, string> = {}): Promise<void> => {
    const context = createTestContext({ session: { ...good, ...own }, files: { ...files, ...more } });
    await new TextToText().initialize(context);
  };
  await load({});
  const wrong: readonly [Partial<typeof good>, string][] = [
    [{ encoder: session([info('input_features', ['batch', 80, 3000])], [states]) }, 'input_features'],
    [{ encoder: session([IDS, info('pixel_values', ['batch', 3, 8, 8])], [states]) }, 'pixel_values'],
    [{ encoder: session([IDS], [info('last_hidden_state', ['batch', 'length', 16])]) }, '16'],
    [{ encoder: session([IDS], [{ ...states, dtype: 'float16' }]) }, 'engine.dtype'],
    // The half with a cache of a decoder that is not merged, and a decoder-only model.
    [{ decoder: session([IDS, HIDDEN, ...CACHE], [LOGITS, ...PRESENT]) }, 'use_cache_branch'],
    [{ decoder: session([IDS], [LOGITS]) }, 'encoder_hidden_states'],
    [{ decoder: session([IDS, HIDDEN, ...CACHE, FLAG], [LOGITS]) }, 'present'],
  ];
  for (const [own, words] of wrong) await expect(load(own), words).rejects.toThrow(code('model-config', words));
  const start = { 'generation_config.json': '{"eos_token_id":1}' };
  await expect(load({}, start)).rejects.toThrow(code('model-config', 'decoder_start_token_id'));
  const both = { 'generation_config.json': '{"num_beams":4,"do_sample":true,"decoder_start_token_id":0}' };
  await expect(load({}, both)).rejects.toThrow(code('model-config', 'doSample'));
});

test('beams need a decoder that runs several rows', async () => {
  const one = [info('input_ids', [1, 'length'], 'int64'), HIDDEN];
  const states = info('last_hidden_state', ['batch', 'length', 8]);
  const sessions = { encoder: session([IDS], [states]), decoder: session(one, [LOGITS]) };
  const context = createTestContext({ session: sessions, files: filesOf('t5'), params: { numBeams: 2 } });
  const handler = new TextToText();
  await handler.initialize(context);
  expect(await handler.handle(['one'], context)).toEqual([code('invalid-input', 'numBeams')]);
});
