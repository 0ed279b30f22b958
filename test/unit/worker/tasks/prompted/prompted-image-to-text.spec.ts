// Florence-2 of random weights on ONNX Runtime under Node. Its answers are compared with transformers' in
// `test/browser/coverage.spec.ts`; here, what is cached, streamed and refused.
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import type { Context } from '../../../../../src/contract/handler.ts';
import type { Session } from '../../../../../src/contract/tensors.ts';
import { startEngine } from '../../../../../src/server/node/engines.ts';
import { createTestContext } from '../../../../../src/worker.ts';
import { createFiles } from '../../../../../src/worker/models/files.ts';
import {
  PromptedImageToText,
  type PromptedImageAnswer,
} from '../../../../../src/worker/tasks/prompted/prompted-image-to-text.ts';
import { stubSession } from '../../../support/stub-session.ts';

const FOLDER = new URL('../../../../models/tasks/prompted-florence2/', import.meta.url);
const NAMES = { encoder: 'encoder_model', decoder: 'decoder_model_merged' } as const;
const PHOTO = { data: new Uint8Array(40 * 30 * 3).map((_, at) => (at * 7) % 251), dims: [30, 40, 3] };
const STEPS = [
  { resize: { size: [32, 32], interpolation: 'bicubic' } },
  'toTensor',
  { normalize: { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] } },
];

async function open(files: Readonly<Record<string, string>> = {}, sessions: Readonly<Record<string, Session>> = {}) {
  const engine = await startEngine('onnx/cpu');
  const runs: string[] = [];
  const opened = new Map<string, Session>();
  const side = ['tokenizer.json', 'tokenizer_config.json', 'generation_config.json', 'config.json'];
  const given = {
    files: {
      ...Object.fromEntries(side.map((file) => [file, readFileSync(new URL(file, FOLDER), 'utf8')])),
      'preprocessor_config.json': '{"image_seq_length":17}',
      ...files,
    },
    config: { handler: { imageProcessing: STEPS, contextLength: 128, maxNewTokens: 12, numBeams: 1 } },
  };
  const { kept } = createTestContext(given as never);
  const parts: unknown[] = [];
  const context = (): Context => ({
    ...createTestContext({ ...given, kept, batchSize: 1 } as never),
    send: (_: number, part: unknown) => Promise.resolve(void parts.push(part)),
    open: async (name) => {
      const own = opened.get(name!) ?? sessions[name!];
      if (own) return own;
      const file = NAMES[name as keyof typeof NAMES] ?? name!;
      const model = new Blob([readFileSync(new URL(`onnx/${file}.onnx`, FOLDER))]);
      const session = await engine.open(createFiles({ 'model.onnx': model }), 'model.onnx', {});
      const watched = new Proxy(session, {
        get: (target, key) =>
          key === 'run'
            ? (...args: Parameters<Session['run']>) => {
                runs.push(name!);
                return target.run(...args);
              }
            : Reflect.get(target, key, target),
      });
      opened.set(name!, watched);
      return watched;
    },
  });
  const handler = new PromptedImageToText();
  await handler.initialize(context());
  const ask = async (input: unknown): Promise<PromptedImageAnswer> => {
    parts.length = 0;
    const [answer] = await handler.handle([input as never], context());
    if (answer instanceof Error) throw answer;
    return answer as PromptedImageAnswer;
  };
  return { ask, runs, parts, handler, context };
}

test('an image is encoded once for all prompts; a caption is the answer without one', async () => {
  const { ask, runs, parts } = await open();
  const caption = await ask(PHOTO);
  expect(caption.regions).toBeUndefined();
  expect(parts.join('').trim()).toBe(caption.text);
  expect(await ask({ image: PHOTO })).toEqual(caption);
  const { regions } = await ask({ image: PHOTO, prompt: '<REGION_PROPOSAL>' });
  expect(Array.isArray(regions)).toBe(true);
  expect(runs.filter((name) => name === 'vision_encoder')).toHaveLength(1);
  expect(runs.filter((name) => name === 'encoder')).toHaveLength(3);
});

test('an input that cannot be asked is refused, with what to pass', async () => {
  const { ask } = await open();
  await expect(ask({ image: PHOTO, prompt: '' })).rejects.toThrow(
    'prompt: expected a task such as <OD>, or a question',
  );
  await expect(ask({ image: PHOTO, prompt: 7 })).rejects.toThrow('got 7');
  await expect(ask({ image: PHOTO, promt: '<OD>' })).rejects.toThrow('probably prompt is meant');
  await expect(ask({ image: PHOTO, prompt: '<REGION_TO_OCR>', box: [4, 4, 2, 8] })).rejects.toThrow(
    'box: expected [xmin, ymin, xmax, ymax] in pixels, with xmin < xmax and ymin < ymax, got [4, 4, 2, 8]',
  );
  await expect(ask({ image: PHOTO, prompt: 'what '.repeat(200) })).rejects.toThrow(
    /The prompt has \d+ tokens( or more)?, and the model reads at most 111 beside the image\. Shorten it/,
  );
  await expect(ask({ prompt: '<OD>' })).rejects.toMatchObject({ code: 'invalid-input' });
});

test("files of another model are told: how many vectors an image has, the encoder's inputs, a list of phrases", async () => {
  const other = await open({ 'preprocessor_config.json': '{"image_seq_length":16}' });
  await expect(other.ask(PHOTO)).rejects.toThrow(
    'vision_encoder makes 17 vectors of an image, and by image_seq_length',
  );
  await expect(open({ 'preprocessor_config.json': '{"image_seq_length":0}' })).rejects.toThrow(
    'image_seq_length must be a number of tokens, not 0',
  );
  const banned = '{"post_processor_config":{"phrase_grounding":{"banned_grounding_tokens":"it"}}}';
  await expect(open({ 'processor_config.json': banned })).rejects.toThrow('banned_grounding_tokens must be a list');
  const float = (name: string) => ({ name, dtype: 'float32', dims: [null, 3, 32, 32] }) as const;
  const masked = stubSession([float('pixel_values'), float('pixel_mask')], [float('image_features')], () => ({}));
  await expect(open({}, { vision_encoder: masked })).rejects.toThrow(
    'This one has the inputs pixel_values, pixel_mask',
  );
  const tokens = stubSession(
    [{ name: 'input_ids', dtype: 'int64', dims: [null, null] }],
    [float('last_hidden_state')],
    () => ({}),
  );
  await expect(open({}, { encoder: tokens })).rejects.toThrow('Take the files of a repository such as onnx-community/');
});

test('each model has an example, by which a backend is proved', async () => {
  const { handler, context } = await open();
  const names = async (node?: string): Promise<readonly string[]> =>
    Object.keys((await handler.example(context(), node)) ?? {});
  expect(await names('vision_encoder')).toEqual(['pixel_values']);
  expect(await names('embed_tokens')).toEqual(['input_ids']);
  expect(await names('encoder')).toEqual(['inputs_embeds', 'attention_mask']);
  expect(await names('decoder')).toEqual(expect.arrayContaining(['inputs_embeds', 'encoder_hidden_states']));
});
