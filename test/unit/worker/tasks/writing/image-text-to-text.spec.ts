// Tiny models of random weights that read pictures, in Hugging Face's layout, on ONNX Runtime under Node, against transformers with its
// own image processor and Pillow (test/models/pictures/make.py). Gemma 4 is in gemma4.spec.ts.
import { expect, test } from '@playwright/test';
import type { Context } from '../../../../../src/contract/handler.ts';
import { createTestContext } from '../../../../../src/worker.ts';
import { ImageTextToText } from '../../../../../src/worker/tasks/writing/image-text-to-text.ts';
import { readerOf } from '../../../../../src/worker/tasks/writing/picture-readers.ts';
import { TextGenerator } from '../../../../../src/worker/tasks/writing/text-generator.ts';
import { EXPECTED, messagesOf, open, pixelsOf, read, readPicture } from './picture-models.ts';

const ROWS = EXPECTED['smolvlm']!;

for (const [model, rows] of Object.entries(EXPECTED)) {
  test(`${model}: pictures become the tensors of transformers`, async () => {
    for (const { images, tiles } of rows) {
      const found: number[][] = [];
      for (const file of images) {
        const { pixel_values: values, image_grid_thw: grid } = (await readPicture(model, file)).feeds;
        const data = values!.data as Float32Array;
        // A grid is one tile of all patches; other tiles may be those of a row of pictures.
        const tilesOf = grid ? 1 : (values!.dims.at(-4) ?? values!.dims[0]!);
        const size = data.length / tilesOf;
        for (let at = 0; at < data.length; at += size)
          found.push([...data.subarray(at, at + size)].filter((_, index) => index % 97 === 0));
      }
      expect(found).toHaveLength(tiles.length);
      for (const [at, tile] of tiles.entries())
        expect(found[at]).toEqual(tile.map((value) => expect.closeTo(value, 5)));
    }
  });

  test(`${model}: answers about pictures are those of transformers, alone and as a batch`, async () => {
    const ask = await open(new ImageTextToText(), undefined, model);
    const inputs = await Promise.all(rows.map(async (row) => ({ messages: await messagesOf(row) })));
    for (const [at, input] of inputs.entries()) {
      const [answer] = await ask([input]);
      expect(answer).toMatchObject({ text: rows[at]!.text, usage: { promptTokens: rows[at]!.inputIds.length } });
    }
    expect((await ask(inputs)).map(({ text }) => text)).toEqual(rows.map(({ text }) => text));
    // With the cached beginnings of prompts.
    expect((await ask(inputs.toReversed())).map(({ text }) => text)).toEqual(rows.map(({ text }) => text).toReversed());
  });
}

test('paligemma: a prompt whose tokens see those after them is kept nowhere, and runs as a whole, in any order, beside others', async () => {
  const rows = EXPECTED['paligemma']!;
  const inputs = await Promise.all(rows.map(async (row) => ({ messages: await messagesOf(row) })));
  const orders = [
    [0, 1, 2, 3],
    [1, 0, 3, 2],
    [2, 3, 1, 0],
  ];
  for (const order of orders) {
    const runs: number[] = [];
    const ask = await open(
      new ImageTextToText(),
      (session, name) => ({
        inputs: session.inputs,
        outputs: session.outputs,
        run(feeds, options) {
          if (name === 'decoder_model_merged') runs.push(feeds['inputs_embeds']!.dims[1]!);
          return session.run(feeds, options);
        },
        [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
      }),
      'paligemma',
    );
    const texts = order.map((at) => rows[at]!.text);
    for (const [nth, at] of order.entries()) {
      runs.length = 0;
      const [answer] = await ask([inputs[at]]);
      expect(answer).toMatchObject({ text: texts[nth], usage: { cachedTokens: 0 } });
      // Of the others, two runs of two tokens were the measurement.
      expect(runs.filter((length) => length > 2)).toEqual([rows[at]!.inputIds.length]);
    }
    expect((await ask(order.map((at) => inputs[at]))).map(({ text }) => text)).toEqual(texts);
    const together = await Promise.all(order.map((at) => ask([inputs[at]])));
    expect(together.map(([answer]) => answer!.text)).toEqual(texts);
  }
});

test('paligemma: an answer that another worker has begun goes on token by token', async () => {
  const [row] = EXPECTED['paligemma']!;
  const input = { messages: await messagesOf(row!) };
  const sent: unknown[] = [];
  const send: Context['send'] = (_, __, resume) => Promise.resolve(void sent.push(resume));
  await (
    await open(new ImageTextToText(), undefined, 'paligemma')
  )([input], { send });
  const ask = await open(new ImageTextToText(), undefined, 'paligemma');
  const [answer] = await ask([input], { resumed: () => sent[4] });
  expect(answer!.text).toBe(row!.text);
});

test('paligemma: the half of texts answers as transformers; a conversation is refused', async () => {
  const row = EXPECTED['paligemma']!.at(-1)!;
  const texts = await open(new TextGenerator(), undefined, 'paligemma');
  expect((await texts([{ tokens: row.inputIds }]))[0]).toMatchObject({ text: row.text });
  const ask = await open(new ImageTextToText(), undefined, 'paligemma');
  const said = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
  ];
  expect((await ask([{ messages: [...said, said[0]] }]))[0]).toMatchObject({
    code: 'invalid-input',
    message: expect.stringContaining('PaliGemma answers one message'),
  });
});

test('pictures of one color and of different shapes are not taken for each other', async () => {
  const ask = await open(new ImageTextToText(), undefined, 'qwen2-vl');
  const asked = (height: number, width: number) => ({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image', image: { data: new Uint8Array(3 * height * width), dims: [height, width, 3] } },
          { type: 'text', text: 'What is it?' },
        ],
      },
    ],
  });
  // As many tokens, of the same pixels, in two rows or in four.
  const [wide] = await ask([asked(16, 32)]);
  const [tall] = await ask([asked(32, 16)]);
  const [again] = await ask([asked(32, 16)]);
  expect(tall!.usage.promptTokens).toBe(wide!.usage.promptTokens);
  expect(tall!.usage.cachedTokens).toBeLessThan(8);
  expect(again!.usage.cachedTokens).toBeGreaterThan(8);
  expect((await ask([asked(8, 2000)]))[0]).toMatchObject({
    code: 'invalid-input',
    message: expect.stringContaining('2000 × 8 pixels is too narrow'),
  });
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

test('a golden example of a conversation without pictures is made and run; one with pictures is refused', async () => {
  const handler = new ImageTextToText();
  await open(handler);
  const row = ROWS.at(-1)!;
  const { goldenModel } = handler;
  const feeds = await goldenModel.feeds({ messages: row.messages }, createTestContext());
  expect([...(feeds['prompt']!.data as Int32Array)]).toEqual(row.inputIds);
  const { tokens } = await goldenModel.run(feeds);
  // It does not end where the answer does.
  const found = [...(tokens!.data as Int32Array)].slice(0, row.tokens.length);
  expect(found.length).toBeGreaterThan(4);
  expect(found).toEqual(row.tokens.slice(0, found.length));
  const pictured = { messages: await messagesOf(ROWS[0]!) };
  await expect(goldenModel.feeds(pictured, createTestContext())).rejects.toMatchObject({
    code: 'invalid-input',
    message: expect.stringContaining('A text must not have <image> in it'),
  });
});

test('a text that has the token of a part of a picture is refused, in a prompt as in a message', async () => {
  const ask = await open(new ImageTextToText(), undefined, 'gemma3');
  const text = 'a <image_soft_token> b';
  const message = expect.stringContaining('A text must not have <image_soft_token> in it');
  expect((await ask([{ messages: [{ role: 'user', content: text }] }]))[0]).toMatchObject({ message });
  expect((await ask([text]))[0]).toMatchObject({ code: 'invalid-input', message });
});

test('a repository of transformers 5, whose processor_config.json has the processor of pictures in it', async () => {
  const [image_processor, others] = ['preprocessor_config.json', 'processor_config.json'].map(
    (file) => JSON.parse(read(`fastvlm/${file}`).toString()) as object,
  );
  const json = (): Promise<unknown> => Promise.resolve({ ...others, image_processor });
  const reader = await readerOf({ has: (file: string) => file === 'processor_config.json', json } as never);
  const image = await createTestContext().decodeImage(await pixelsOf('small.png'));
  expect(await reader.read(image)).toEqual(await readPicture('fastvlm', 'small.png'));
});

test('fields of processors that are no sizes are told', async () => {
  const readerFor = async (images: object, processor: object = {}, type = 'lighton_ocr'): Promise<unknown> => {
    const files: Readonly<Record<string, object>> = {
      'preprocessor_config.json': images,
      'processor_config.json': processor,
      'config.json': { model_type: type },
    };
    const json = (path: string): Promise<unknown> => Promise.resolve(files[path]);
    return await readerOf({ has: () => true, json } as never);
  };
  const [gemma, clip] = ['Gemma3ImageProcessor', 'CLIPImageProcessor'];
  await expect(readerFor({ image_processor_type: gemma, size: { height: 0, width: 8 } })).rejects.toThrow(
    'size: expected { height, width } of 1 to 4096 pixels',
  );
  await expect(readerFor({ image_processor_type: gemma }, { image_seq_length: -1 })).rejects.toThrow(
    'image_seq_length must be a number of tokens, at most 16384, not -1',
  );
  const panned = { image_processor_type: gemma, do_pan_and_scan: true, pan_and_scan_min_ratio_to_activate: 'wide' };
  await expect(readerFor(panned)).rejects.toThrow('pan_and_scan_min_ratio_to_activate: expected a number');
  await expect(readerFor({ image_processor_type: clip }, { patch_size: 'x' })).rejects.toThrow('patch_size: expected');
  const pixtral = { image_processor_type: 'PixtralImageProcessor' };
  await expect(readerFor(pixtral, { image_token: 1 })).rejects.toThrow('image_token: expected a token, got 1');
  await expect(readerFor({ ...pixtral, size: { longest_edge: -1 } })).rejects.toThrow('size: expected a whole number');
  await expect(readerFor(pixtral, {}, 'llava')).rejects.toThrow('of LightOnOCR and Mistral 3 that of Pixtral');
  const broken = readerFor(pixtral, { image_break_token: '' }, 'mistral3');
  await expect(broken).rejects.toThrow('image_break_token: expected a token, got ""');
  const siglip = { image_processor_type: 'SiglipImageProcessor', image_seq_length: 0 };
  await expect(readerFor(siglip, {}, 'paligemma')).rejects.toThrow('image_seq_length: expected a whole number');
  const onevision = { image_processor_type: 'LlavaOnevisionImageProcessor' };
  await expect(readerFor(onevision, {}, 'llava_onevision')).rejects.toThrow('The handler text_generator runs');
});

test('a picture without a whole token of LightOnOCR is refused', async () => {
  const ask = await open(new ImageTextToText(), undefined, 'lighton-ocr');
  const image = { data: new Uint8Array(3 * 40 * 5), dims: [5, 40, 3] };
  const [answer] = await ask([{ messages: [{ role: 'user', content: [{ type: 'image', image }] }] }]);
  expect(answer).toMatchObject({
    code: 'invalid-input',
    message: expect.stringContaining(
      'A picture of 40 × 5 pixels is too small for this model: it has no token of 12 × 12',
    ),
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
