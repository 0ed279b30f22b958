/**
 * Language models that read pictures, from their repositories' URLs alone, against transformers in Python:
 * the scripts of `test/models/pictures`.
 */
import { expect, test } from './fixtures.ts';
import { readGoldens } from './goldens.ts';
import { soundOf } from '../models/tasks/sound.ts';

interface Row {
  readonly images: readonly string[];
  /** Numbers of samples. */
  readonly sounds?: readonly number[];
  readonly messages: readonly { readonly role: string; readonly content: readonly object[] }[];
  readonly text: string;
}

const EXPECTED = readGoldens<Readonly<Record<string, readonly Row[]>>>('../models/pictures/expected.json');
const ROWS = EXPECTED['smolvlm']!;
/** Of Gemma 3, with pan and scan. The others are compared in unit tests. */
const MODELS = [
  'smolvlm',
  'gemma3',
  'gemma4',
  'llava',
  'fastvlm',
  'fastvlm-transformers',
  'qwen3.5',
  'glm-ocr',
  'paligemma',
  'mistral3',
  'qwen3.5-moe',
];

const FOLDER = '/test/models/pictures/';

for (const model of MODELS)
  test(`${model} by its URL alone: pictures as files, elements and URLs, in parts, beside texts${model === 'smolvlm' ? '' : ' @full'}`, async ({
    open,
    backend,
  }) => {
    test.skip(backend === 'webgl', 'ONNX Runtime WebGL has no int64');
    const page = await open();
    // Another config.json beside the same files.
    const other = model.replace('-transformers', '');
    if (other !== model)
      await page.route(`**/${model}/**`, async (route) => {
        const url = route.request().url();
        await route.continue(url.endsWith('/config.json') ? {} : { url: url.replace(model, other) });
      });
    const all = EXPECTED[other]!;
    const rows = (backend === 'wasm' ? all : all.slice(0, 1)).map(({ images, sounds = [], messages }) => ({
      images,
      sounds: sounds.map((length) => [...soundOf(length)]),
      messages,
    }));
    const seen = await page.evaluate(
      async ({ folder, backend, rows, model }) => {
        const client = await window.tabserve.load<'image_text_to_text'>(`${folder}${model}/`, {
          backends: [`onnx/${backend}`],
        });
        const answers: { parts: string; text: string }[] = [];
        for (const { images, sounds, messages } of rows) {
          const element = document.createElement('img');
          element.src = folder + images[0];
          const files = await Promise.all(images.map(async (name) => await (await fetch(folder + name)).blob()));
          const pictures: unknown[] =
            images.length === 1 ? [element] : [new URL(folder + images[0], location.href), ...files.slice(1)];
          const recordings = sounds.map((samples) => {
            const buffer = new AudioBuffer({ length: samples.length, sampleRate: 16_000 });
            buffer.copyToChannel(Float32Array.from(samples), 0);
            return buffer;
          });
          const media: Record<string, unknown[]> = { image: [...pictures], audio: recordings };
          const content = messages.map((message) => ({
            ...message,
            content: message.content.map((part) => {
              const { type } = part as { type: string };
              return media[type] ? { ...part, [type]: media[type].shift() } : part;
            }),
          }));
          let [parts, text] = ['', ''];
          for await (const item of client.stream({ messages: content }))
            if (typeof item === 'string') parts += item;
            else if ('text' in item) ({ text } = item);
          answers.push({ parts, text });
        }
        const { handler, takes, media } = await client.describe();
        await client.dispose();
        return { answers, handler, takes, media };
      },
      { folder: FOLDER, backend, rows, model },
    );
    const media = model === 'gemma4' ? ['image', 'audio'] : ['image'];
    expect(seen).toMatchObject({ handler: 'image_text_to_text', takes: 'image-or-text', media });
    expect(seen.answers).toEqual(all.slice(0, rows.length).map(({ text }) => ({ parts: text, text })));
  });

test('the half of texts downloads no weights of pictures, and says that it reads none @wasm', async ({ open }) => {
  const page = await open();
  const asked: string[] = [];
  page.on('request', (request) => void asked.push(request.url()));
  const { text, refused } = await page.evaluate(
    async ({ folder, messages }) => {
      const client = await window.tabserve.load(`${folder}smolvlm/`, {
        handler: 'text_generator',
        backends: ['wasm'],
      });
      const { text } = await client.predict({ messages });
      const image = new Blob(['none']);
      const refused = await client
        .predict({ messages: [{ role: 'user', content: [{ type: 'image', image }] }] })
        .catch((error: Error) => error.message);
      await client.dispose();
      return { text, refused };
    },
    { folder: FOLDER, messages: ROWS.at(-1)!.messages },
  );
  expect(text).toBe(ROWS.at(-1)!.text);
  expect(refused).toContain('this model reads texts alone');
  expect(asked.filter((url) => url.endsWith('.onnx')).map((url) => url.split('/').at(-1))).toEqual(
    expect.arrayContaining(['decoder_model_merged.onnx', 'embed_tokens.onnx']),
  );
  expect(asked.filter((url) => url.includes('vision_encoder'))).toEqual([]);
});
