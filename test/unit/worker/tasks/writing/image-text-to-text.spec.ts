// A tiny SmolVLM of random weights, in Hugging Face's layout, on ONNX Runtime under Node, against transformers with its
// own image processor and Pillow (test/models/pictures/make.py).
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import sharp from 'sharp';
import type { Context } from '../../../../../src/contract/handler.ts';
import type { Session } from '../../../../../src/contract/tensors.ts';
import { startEngine } from '../../../../../src/server/node/engines.ts';
import { createTestContext } from '../../../../../src/worker.ts';
import type { GeneratedText } from '../../../../../src/worker/handlers/generation-handler.ts';
import { createFiles } from '../../../../../src/worker/models/files.ts';
import { idefics3Reader } from '../../../../../src/worker/tasks/writing/idefics3.ts';
import { ImageTextToText, type ImageTextMessage } from '../../../../../src/worker/tasks/writing/image-text-to-text.ts';
import { TextGenerator } from '../../../../../src/worker/tasks/writing/text-generator.ts';

const FOLDER = new URL('../../../../models/pictures/', import.meta.url);
const read = (path: string): Buffer => readFileSync(new URL(path, FOLDER));

interface Row {
  readonly images: readonly string[];
  readonly messages: readonly { readonly role: string; readonly content: readonly { readonly type: string }[] }[];
  readonly inputIds: readonly number[];
  readonly tiles: readonly (readonly number[])[];
  readonly text: string;
}
const { smolvlm: ROWS } = JSON.parse(read('expected.json').toString()) as { readonly smolvlm: readonly Row[] };

async function pixelsOf(file: string) {
  const { data, info } = await sharp(read(file)).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  return { data: new Uint8Array(data), dims: [info.height, info.width, 3] };
}

/** The conversation of a row, with its pictures in place. */
async function messagesOf({ images, messages }: Row): Promise<readonly ImageTextMessage[]> {
  const pixels = await Promise.all(images.map(pixelsOf));
  let next = 0;
  return messages.map(({ role, content }) => ({
    role,
    content: content.map((part) => (part.type === 'image' ? { ...part, image: pixels[next++]! } : part)),
  })) as never;
}

async function open(handler: TextGenerator, change: (session: Session, name: string) => Session = (one) => one) {
  const engine = await startEngine('onnx/cpu');
  const session = async (name: string): Promise<Session> => {
    const files = createFiles({ 'model.onnx': new Blob([read(`smolvlm/onnx/${name}.onnx`) as never]) });
    return change(await engine.open(files, 'model.onnx', {}), name);
  };
  const FILES = [
    'tokenizer.json',
    'tokenizer_config.json',
    'generation_config.json',
    'config.json',
    'chat_template.jinja',
    'preprocessor_config.json',
    'processor_config.json',
  ];
  const sessions = new Map<string | undefined, Promise<Session>>();
  const given = {
    session: await session('decoder_model_merged'),
    files: Object.fromEntries(FILES.map((file) => [file, new Blob([read(`smolvlm/${file}`) as never])])),
  };
  const first = createTestContext(given);
  const context = (rows: number): Context => ({
    ...createTestContext({ ...given, kept: first.kept, batchSize: rows } as never),
    open: (name) => {
      if (name === undefined) return Promise.resolve(given.session);
      if (!sessions.has(name)) sessions.set(name, session(name));
      return sessions.get(name)!;
    },
  });
  await handler.initialize(context(1));
  return async (rows: readonly unknown[]) =>
    (await handler.handle(rows as never, context(rows.length))) as readonly GeneratedText[];
}

test('pictures become the tiles of transformers, and its text', async () => {
  const reader = idefics3Reader(JSON.parse(read('smolvlm/preprocessor_config.json').toString()), 4);
  for (const { images, tiles } of ROWS) {
    const found: number[][] = [];
    for (const file of images) {
      const { data, dims } = await pixelsOf(file);
      const { feeds, count } = await reader.read({
        format: 'RGB',
        width: dims[1]!,
        height: dims[0]!,
        stride: dims[1]! * 3,
        data,
      } as never);
      const { pixel_values: values } = feeds;
      const size = 3 * 32 * 32;
      expect(values!.dims).toEqual([1, count / 4, 3, 32, 32]);
      for (let at = 0; at < values!.data.length; at += size)
        found.push([...(values!.data as Float32Array).subarray(at, at + size)].filter((_, index) => index % 97 === 0));
    }
    expect(found).toHaveLength(tiles.length);
    for (const [at, tile] of tiles.entries()) expect(found[at]).toEqual(tile.map((value) => expect.closeTo(value, 5)));
  }
});

test('answers about pictures are those of transformers, alone and as a batch', async () => {
  const ask = await open(new ImageTextToText());
  const inputs = await Promise.all(ROWS.map(async (row) => ({ messages: await messagesOf(row) })));
  for (const [at, input] of inputs.entries()) {
    const [answer] = await ask([input]);
    expect(answer).toMatchObject({ text: ROWS[at]!.text, usage: { promptTokens: ROWS[at]!.inputIds.length } });
  }
  expect((await ask(inputs)).map(({ text }) => text)).toEqual(ROWS.map(({ text }) => text));
});

test('a picture is encoded once, and a second question runs only its own tokens; another picture runs anew', async () => {
  const runs: string[] = [];
  const ask = await open(new ImageTextToText(), (session, name) => ({
    inputs: session.inputs,
    outputs: session.outputs,
    run(feeds, options) {
      const [first] = Object.values(feeds);
      runs.push(`${name} ${first!.dims[1]}`);
      return session.run(feeds, options);
    },
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  }));
  const [wide, small] = [await pixelsOf('wide.png'), await pixelsOf('small.png')];
  const asked = (image: unknown, text: string) => ({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image', image },
          { type: 'text', text },
        ],
      },
    ],
  });
  const [first] = await ask([asked(wide, 'What is in this picture?')]);
  expect(first).toMatchObject({ text: ROWS[0]!.text, usage: { cachedTokens: 0 } });
  runs.length = 0;
  const [second] = await ask([asked(wide, 'What is it?')]);
  expect(runs.filter((run) => run.startsWith('vision_encoder'))).toEqual([]);
  expect(second!.usage.cachedTokens).toBeGreaterThan(60);
  const [other] = await ask([asked(small, 'What is in this picture?')]);
  expect(runs.filter((run) => run.startsWith('vision_encoder'))).toHaveLength(1);
  // Both prompts begin with <|im_start|>User:, and their pictures differ.
  expect(other!.usage.cachedTokens).toBeLessThan(10);
  expect(other!.text).not.toBe(first!.text);
});

test('the half of texts answers as transformers, and refuses pictures', async () => {
  const ask = await open(new TextGenerator());
  const row = ROWS.at(-1)!;
  expect((await ask([{ messages: row.messages }]))[0]).toMatchObject({ text: row.text });
  expect((await ask([{ messages: await messagesOf(ROWS[0]!) }]))[0]).toMatchObject({
    code: 'invalid-input',
    message: expect.stringContaining('this model reads texts alone'),
  });
});

test('a text that has the placeholder of a picture, and a picture that is none, fail alone', async () => {
  const ask = await open(new ImageTextToText());
  const [faked, none, fine] = await ask([
    { messages: [{ role: 'user', content: [{ type: 'text', text: 'a <image> b' }] }] },
    { messages: [{ role: 'user', content: [{ type: 'image', image: new Blob(['none']) }] }] },
    { messages: ROWS.at(-1)!.messages },
  ]);
  expect(faked).toMatchObject({ code: 'invalid-input', message: expect.stringContaining('<image>') });
  expect(none).toMatchObject({ code: 'image-decode' });
  expect(fine).toMatchObject({ text: ROWS.at(-1)!.text });
});
