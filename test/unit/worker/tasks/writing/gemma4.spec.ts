// A tiny Gemma 4 of random weights, which reads pictures and hears, on ONNX Runtime under Node, against transformers 5.18
// (test/models/pictures/gemma4.py). Its rows are asked in image-text-to-text.spec.ts.
import { expect, test } from '@playwright/test';
import type { Session } from '../../../../../src/contract/tensors.ts';
import { AudioTextToText } from '../../../../../src/worker/tasks/writing/audio-text-to-text.ts';
import { ImageTextToText } from '../../../../../src/worker/tasks/writing/image-text-to-text.ts';
import { soundReaderOf } from '../../../../../src/worker/tasks/writing/sound-readers.ts';
import { TextGenerator } from '../../../../../src/worker/tasks/writing/text-generator.ts';
import { soundOf } from '../../../../models/tasks/sound.ts';
import { EXPECTED, filesOf, messagesOf, open, pixelsOf, readPicture, recording } from './picture-models.ts';

const ROWS = EXPECTED['gemma4']!;
const MODEL = 'gemma4';
const same = (session: Session): Session => session;

const user = (...content: readonly object[]) => ({ messages: [{ role: 'user', content }] });
const text = (words: string) => ({ type: 'text', text: words });
const message = (words: string) => ({ code: 'invalid-input', message: expect.stringContaining(words) });

/** Records the names of the encoders that run. */
function recorded(runs: string[]) {
  return (session: Session, name: string): Session => ({
    inputs: session.inputs,
    outputs: session.outputs,
    run(feeds, options) {
      if (name.endsWith('_encoder')) runs.push(name);
      return session.run(feeds, options);
    },
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  });
}

test('patches have the places of transformers, and those that fill up have none', async () => {
  for (const { images, places } of ROWS)
    for (const [at, file] of images.entries()) {
      const { pixel_position_ids: found, pixel_values: values } = (await readPicture(MODEL, file)).feeds;
      expect(found!.dims).toEqual([1, values!.dims[1], 2]);
      expect([...(found!.data as BigInt64Array)].map(Number).filter((_, index) => index % 97 === 0)).toEqual(
        places![at],
      );
    }
});

test('recordings become the spectrograms of transformers', async () => {
  const reader = await soundReaderOf(filesOf(MODEL), () => {});
  for (const { sounds, features } of ROWS)
    for (const [at, length] of sounds!.entries()) {
      const { input_features: found, input_features_mask: mask } = reader.read(soundOf(length)).feeds(() => {});
      expect([...(found!.data as Float32Array)].filter((_, index) => index % 397 === 0)).toEqual(
        features![at]!.map((value) => expect.closeTo(value, 4)),
      );
      expect(mask).toEqual({
        dtype: 'bool',
        dims: [1, found!.dims[1]],
        data: new Uint8Array(found!.dims[1]!).fill(1),
      });
    }
});

test('a picture and a recording are encoded once, and what differs in one of them does not share its beginning', async () => {
  const runs: string[] = [];
  const ask = await open(new ImageTextToText(), recorded(runs), MODEL);
  const [wide, tall] = [await pixelsOf('wide.png'), await pixelsOf('tall.png')];
  const asked = (image: object, length: number, words: string) =>
    user({ type: 'audio', audio: recording(length) }, { type: 'image', image }, text(words));
  await ask([asked(wide, 9000, 'What is it?')]);
  expect(runs.toSorted()).toEqual(['audio_encoder', 'vision_encoder']);
  const [again] = await ask([asked(wide, 9000, 'And who?')]);
  expect(runs).toHaveLength(2);
  expect(again!.usage.cachedTokens).toBeGreaterThan(14 + 60);
  // The recording is the same, and stands before the picture.
  const [pictured] = await ask([asked(tall, 9000, 'What is it?')]);
  expect(runs.slice(2)).toEqual(['vision_encoder']);
  expect(pictured!.usage.cachedTokens).toBeGreaterThan(14);
  expect(pictured!.usage.cachedTokens).toBeLessThan(30);
  const [heard] = await ask([asked(wide, 9100, 'What is it?')]);
  expect(runs.slice(3)).toEqual(['audio_encoder']);
  expect(heard!.usage.cachedTokens).toBeLessThan(10);
});

test('pictures of one color, of as many tokens and of different shapes are not taken for each other', async () => {
  const ask = await open(new ImageTextToText(), same, MODEL);
  const asked = (height: number, width: number) =>
    user(
      { type: 'image', image: { data: new Uint8Array(3 * height * width), dims: [height, width, 3] } },
      text('What is it?'),
    );
  const [wide] = await ask([asked(12, 24)]);
  const [tall] = await ask([asked(24, 12)]);
  const [again] = await ask([asked(24, 12)]);
  expect(tall!.usage.promptTokens).toBe(wide!.usage.promptTokens);
  expect(tall!.usage.cachedTokens).toBeLessThan(8);
  expect(again!.usage.cachedTokens).toBeGreaterThan(8);
});

test('audio_text_to_text hears as image_text_to_text does, without the encoder of pictures', async () => {
  const opened: string[] = [];
  const handler = new AudioTextToText();
  const ask = await open(handler, (session, name) => (opened.push(name), session), MODEL);
  expect(handler.media).toEqual(['audio']);
  expect(opened.toSorted()).toEqual(['audio_encoder', 'decoder_model_merged', 'embed_tokens']);
  const rows = ROWS.filter(({ images }) => images.length === 0);
  const inputs = await Promise.all(rows.map(async (row) => ({ messages: await messagesOf(row) })));
  expect((await ask(inputs)).map((one) => one.text)).toEqual(rows.map((row) => row.text));
  expect((await ask([user({ type: 'image', image: await pixelsOf('small.png') })]))[0]).toMatchObject(
    message("{ type: 'text', text } or { type: 'audio', audio }, got \"image\". A model of image_text_to_text"),
  );
});

test('a Gemma 4 without an encoder of sound reads pictures alone, and the half of texts neither', async () => {
  const opened: string[] = [];
  const handler = new ImageTextToText();
  const ask = await open(handler, (session, name) => (opened.push(name), session), MODEL, {
    'config.json': (fields) => ({ ...fields, audio_config: null }),
  });
  expect(handler.media).toEqual(['image']);
  expect(opened).not.toContain('audio_encoder');
  const heard = user({ type: 'audio', audio: recording(9000) });
  const row = ROWS.find(({ images, sounds }) => images.length > 0 && sounds!.length === 0)!;
  const [refused, answer] = await ask([heard, { messages: await messagesOf(row) }]);
  expect(refused).toMatchObject(message('A model of audio_text_to_text hears sound.'));
  expect(answer).toMatchObject({ text: row.text });
  const texts = await open(new TextGenerator(), same, MODEL);
  expect((await texts([{ messages: ROWS.at(-1)!.messages }]))[0]).toMatchObject({ text: ROWS.at(-1)!.text });
  expect((await texts([heard]))[0]).toMatchObject(message('this model reads texts alone'));
});

test('what the model does not take fails its row, with what it takes', async () => {
  const handler = new ImageTextToText();
  const ask = await open(handler, same, MODEL);
  expect(handler.media).toEqual(['image', 'audio']);
  const sound = (length: number) => user({ type: 'audio', audio: recording(length) });
  const [film, path, short, long, picture, heard, fine] = await ask([
    user({ type: 'video', video: {} }),
    user({ type: 'audio', audio: '/platform.wav' }),
    sound(160),
    sound(480_001),
    user(text('a <|image|> b')),
    'a <|audio|> b',
    sound(9000),
  ]);
  expect(film).toMatchObject(
    message("{ type: 'text', text }, { type: 'image', image } or { type: 'audio', audio }, got \"video\". Pass some"),
  );
  expect(path).toMatchObject(message('a File or Blob, a URL object, an AudioBuffer, or samples'));
  expect(short).toMatchObject(message('The recording has 160 samples, and this model hears 161 to 480000'));
  expect(long).toMatchObject(message('which are 30 seconds. Pass a part of it.'));
  expect(picture).toMatchObject(message('A text must not have <|image|> in it'));
  expect(heard).toMatchObject(message('A text must not have <|audio|> in it: it stands for a part of a recording'));
  expect(fine!.usage.completionTokens).toBeGreaterThan(0);
  const image = await pixelsOf('wide.png');
  const many = Array.from({ length: 9 }, () => ({ type: 'image', image }));
  expect((await ask([user(...many, { type: 'audio', audio: recording(9000) })]))[0]).toMatchObject(
    message("The 9 pictures and 1 recordings have 554 tokens, and the model's context has 512"),
  );
});

test('fields that a picture or a spectrogram cannot have are told', async () => {
  const opened = (part: string, fields: object) =>
    open(new ImageTextToText(), same, MODEL, {
      'processor_config.json': (all) => ({ ...all, [part]: { ...(all[part] as object), ...fields } }),
    });
  for (const [part, key, value] of [
    ['image_processor', 'max_soft_tokens', 0],
    ['image_processor', 'patch_size', 2.5],
    ['image_processor', 'pooling_kernel_size', 'x'],
    ['image_processor', 'resample', 9],
    ['feature_extractor', 'preemphasis', 0.97],
    ['feature_extractor', 'per_bin_mean', [1]],
    ['feature_extractor', 'feature_size', 0],
    ['feature_extractor', 'frame_length', 600],
    ['feature_extractor', 'fft_length', 521],
    ['feature_extractor', 'hop_length', -1],
    ['feature_extractor', 'min_frequency', -1],
    ['feature_extractor', 'max_frequency', 0],
    ['feature_extractor', 'mel_floor', 0],
    ['feature_extractor', 'sampling_rate', 1],
  ] as const)
    await expect(opened(part, { [key]: value }), key).rejects.toMatchObject({
      code: 'model-config',
      message: expect.stringContaining(key),
    });
  const warnings: string[] = [];
  const files = filesOf(MODEL);
  const { feature_extractor: extractor } = (await files.json('processor_config.json')) as Record<string, object>;
  const dithered = { feature_extractor: { ...extractor, dither: 0.1 } };
  await soundReaderOf({ ...files, json: () => Promise.resolve(dithered) } as never, (one) => warnings.push(one));
  expect(warnings).toEqual([expect.stringContaining('dither')]);
});
