// Models that hear, of random weights, in Hugging Face's layout, on ONNX Runtime under Node, against transformers with its feature
// extractors (the scripts of test/models/sounds).
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import type { Context } from '../../../../../src/contract/handler.ts';
import type { Session } from '../../../../../src/contract/tensors.ts';
import { startEngine } from '../../../../../src/server/node/engines.ts';
import { createTestContext } from '../../../../../src/worker.ts';
import type { GeneratedText } from '../../../../../src/worker/generation/answer.ts';
import { createFiles } from '../../../../../src/worker/models/files.ts';
import { AudioTextToText } from '../../../../../src/worker/tasks/writing/audio-text-to-text.ts';
import { TextGenerator } from '../../../../../src/worker/tasks/writing/text-generator.ts';
import { soundOf } from '../../../../models/tasks/sound.ts';

const FOLDER = new URL('../../../../models/sounds/', import.meta.url);
const read = (path: string): Buffer => readFileSync(new URL(path, FOLDER));

interface Row {
  readonly sounds: readonly number[];
  readonly messages: readonly { readonly role: string; readonly content: readonly { readonly type: string }[] }[];
  readonly inputIds: readonly number[];
  readonly features: readonly (readonly number[])[];
  readonly text: string;
}
const EXPECTED = JSON.parse(read('expected.json').toString()) as Readonly<Record<string, readonly Row[]>>;
const ROWS = EXPECTED['voxtral']!;

const recording = (length: number): object => ({ samples: soundOf(length), sampleRate: 16_000 });

/** The conversation of a row, with its recordings in place. */
function messagesOf({ sounds, messages }: Row): readonly object[] {
  let next = 0;
  return messages.map(({ role, content }) => ({
    role,
    content: content.map((part) => (part.type === 'audio' ? { ...part, audio: recording(sounds[next++]!) } : part)),
  }));
}

async function open(handler: TextGenerator, change: (extractor: object) => object = (one) => one, model = 'voxtral') {
  const engine = await startEngine('onnx/cpu');
  const encoded: (readonly number[])[] = [];
  const session = async (name: string): Promise<Session> => {
    const files = createFiles({ 'model.onnx': new Blob([read(`${model}/onnx/${name}.onnx`) as never]) });
    const opened = await engine.open(files, 'model.onnx', {});
    if (name !== 'audio_encoder') return opened;
    return {
      inputs: opened.inputs,
      outputs: opened.outputs,
      run(feeds, options) {
        const { dims, data } = Object.values(feeds)[0]!;
        const size = (data as Float32Array).length / dims[0]!;
        for (let at = 0; at < dims[0]!; at++)
          encoded.push(
            [...(data as Float32Array).subarray(at * size, (at + 1) * size)].filter((_, index) => index % 397 === 0),
          );
        return opened.run(feeds, options);
      },
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    };
  };
  const names = [
    'tokenizer.json',
    'tokenizer_config.json',
    'generation_config.json',
    'config.json',
    'chat_template.jinja',
    ...(existsSync(new URL(`${model}/processor_config.json`, FOLDER)) ? ['processor_config.json'] : []),
  ];
  const given = {
    session: await session('decoder_model_merged'),
    config: { handler: { contextLength: 512 } },
    files: {
      ...Object.fromEntries(names.map((file) => [file, new Blob([read(`${model}/${file}`) as never])])),
      'preprocessor_config.json': JSON.stringify(
        change(JSON.parse(read(`${model}/preprocessor_config.json`).toString()) as object),
      ),
    },
  };
  const { kept } = createTestContext(given);
  const sessions = new Map<string, Promise<Session>>();
  const context = (rows: number): Context => ({
    ...createTestContext({ ...given, kept, batchSize: rows } as never),
    open: (name) => {
      if (name === undefined) return Promise.resolve(given.session);
      if (!sessions.has(name)) sessions.set(name, session(name));
      return sessions.get(name)!;
    },
  });
  await handler.initialize(context(1));
  const ask = async (rows: readonly unknown[]) =>
    (await handler.handle(rows as never, context(rows.length))) as readonly GeneratedText[];
  return { ask, encoded };
}

for (const [model, rows] of Object.entries(EXPECTED))
  test(`${model}: spectrograms and answers are those of transformers, alone and as a batch`, async () => {
    const { ask, encoded } = await open(new AudioTextToText(), undefined, model);
    for (const row of rows) {
      encoded.length = 0;
      const [answer] = await ask([{ messages: messagesOf(row) }]);
      expect(answer).toMatchObject({ text: row.text, usage: { promptTokens: row.inputIds.length } });
      // What was heard before is not encoded again.
      const fresh = row.features.slice(row.features.length - encoded.length);
      expect(encoded).toEqual(fresh.map((values) => values.map((value) => expect.closeTo(value, 4))));
    }
    const inputs = rows.map((row) => ({ messages: messagesOf(row) }));
    expect((await ask(inputs)).map(({ text }) => text)).toEqual(rows.map(({ text }) => text));
  });

test('a recording is encoded once, and a second question runs only its own tokens', async () => {
  const { ask, encoded } = await open(new AudioTextToText());
  const asked = (text: string): object => ({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'audio', audio: recording(9000) },
          { type: 'text', text },
        ],
      },
    ],
  });
  expect((await ask([asked('What is said?')]))[0]).toMatchObject({ text: ROWS[0]!.text });
  const [second] = await ask([asked('And who?')]);
  expect(encoded).toHaveLength(1);
  expect(second!.usage.cachedTokens).toBeGreaterThan(25);
});

test('sound that cannot be heard is refused, with what to pass; the half of texts refuses it', async () => {
  const { ask } = await open(new AudioTextToText());
  const heard = (audio: unknown): object => ({ messages: [{ role: 'user', content: [{ type: 'audio', audio }] }] });
  const message = (text: string): Record<string, unknown> => ({ message: expect.stringContaining(text) });
  const [none, empty, long, picture, faked, path, missing] = await ask([
    heard(new Blob(['none'])),
    heard(recording(0)),
    heard({ samples: new Float32Array(16_000 * 60), sampleRate: 16_000 }),
    { messages: [{ role: 'user', content: [{ type: 'image', image: {} }] }] },
    { messages: [{ role: 'user', content: 'a [AUDIO] b' }] },
    heard('/platform.wav'),
    heard(undefined),
  ]);
  expect(none).toMatchObject({ code: 'invalid-input' });
  expect(empty).toMatchObject(message('The recording is empty'));
  expect(long).toMatchObject(message("The recording has 750 tokens, and the model's context has 512"));
  expect(picture).toMatchObject(message("{ type: 'text', text } or { type: 'audio', audio }"));
  expect(faked).toMatchObject(message('A text must not have [AUDIO] in it'));
  const expected =
    'messages[0].content[0].audio: expected a File or Blob, a URL object, an AudioBuffer, or samples, got ';
  expect(path).toMatchObject({
    code: 'invalid-input',
    ...message(`${expected}"/platform.wav". For a file on the web, pass new URL(…, location.href);`),
  });
  expect(missing).toMatchObject({ code: 'invalid-input', message: `${expected}undefined.` });
  const texts = await open(new TextGenerator());
  const row = ROWS.at(-1)!;
  expect((await texts.ask([{ messages: row.messages }]))[0]).toMatchObject({ text: row.text });
  expect((await texts.ask([heard(recording(9000))]))[0]).toMatchObject(message('this model reads texts alone'));
});

test("a repository whose file is another extractor's is told", async () => {
  const other = open(new AudioTextToText(), (one) => ({
    ...one,
    feature_extractor_type: 'SeamlessM4TFeatureExtractor',
  }));
  await expect(other).rejects.toThrow(
    '"WhisperFeatureExtractor", as of Voxtral and Ultravox, "GraniteSpeechFeatureExtractor", or "Gemma4AudioFeatureExtractor"',
  );
  const longer = await open(new AudioTextToText(), (one) => ({ ...one, chunk_length: 4 }));
  const input = { messages: [{ role: 'user', content: [{ type: 'audio', audio: recording(9000) }] }] };
  await expect(longer.ask([input])).rejects.toThrow('expects float32 [batch_size, 80, 200]');
});

test('a recording that Ultravox, Qwen2-Audio or Granite Speech cannot hear is refused, and sizes that are none are told', async () => {
  const heard = (length: number) => [
    { messages: [{ role: 'user', content: [{ type: 'audio', audio: recording(length) }] }] },
  ];
  const ultravox = await open(new AudioTextToText(), undefined, 'ultravox');
  for (const length of [200, 50_000])
    expect((await ultravox.ask(heard(length)))[0]).toMatchObject({
      code: 'invalid-input',
      message: `The recording has ${length} samples, and this model hears 400 to 48000, which are 3 seconds. Pass a part of it.`,
    });
  const qwen = await open(new AudioTextToText(), undefined, 'qwen2-audio');
  for (const length of [320, 50_000])
    expect((await qwen.ask(heard(length)))[0]).toMatchObject({
      code: 'invalid-input',
      message: `The recording has ${length} samples, and this model hears 321 to 48000, which are 3 seconds. Pass a part of it.`,
    });
  const granite = await open(new AudioTextToText(), undefined, 'granite-speech');
  expect((await granite.ask(heard(200)))[0]).toMatchObject({
    code: 'invalid-input',
    message: expect.stringContaining('this model hears 257 or more'),
  });
  const changed = (fields: object) =>
    open(new AudioTextToText(), (one) => ({ ...one, ...fields }), 'granite-speech').then(({ ask }) => ask(heard(900)));
  await expect(changed({ projector_downsample_rate: 0 })).rejects.toThrow('projector_downsample_rate');
  await expect(changed({ melspec_kwargs: { win_length: 513 } })).rejects.toThrow('win_length');
  await expect(changed({ melspec_kwargs: { sample_rate: 8000 } })).rejects.toThrow('melspec_kwargs.sample_rate');
});
