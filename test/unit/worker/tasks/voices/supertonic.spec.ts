// The samples are compared with Python's in `test/browser/coverage.spec.ts`.
import { expect, test } from '@playwright/test';
import type { SpokenAudio } from '../../../../../src/contract/spoken-text.ts';
import { createTestHandler, TextToSpeech } from '../../../../../src/worker.ts';
import { gaussian } from '../../../../../src/worker/generation/gaussian.ts';
import { supertonicFiles } from '../../../../../src/worker/tasks/voices/supertonic-files.ts';
import { prepareText } from '../../../../../src/worker/tasks/voices/supertonic-text.ts';

const float = (name: string, ...dims: (number | null)[]) => ({ name, dtype: 'float32', dims }) as const;
const IDS = { name: 'text_ids', dtype: 'int64', dims: [1, null] } as const;
const MASK = float('text_mask', 1, 1, null);
type Feeds = Readonly<Record<string, { readonly data: ArrayLike<number | bigint>; readonly dims: readonly number[] }>>;
const numbers = (feeds: Feeds, name: string): number[] => Array.from(feeds[name]!.data, Number);

/** A column of the latent is two samples, of two numbers. */
const FILES = {
  'tts.json': JSON.stringify({
    ae: { sample_rate: 1000, base_chunk_size: 2 },
    ttl: { chunk_compress_factor: 1, latent_dim: 2 },
  }),
  'unicode_indexer.json': JSON.stringify(
    Array.from({ length: 128 }, (_, code) => (/[a-z .<>/]/i.test(String.fromCharCode(code)) ? code : -1)),
  ),
  'M1.json': JSON.stringify({ style_ttl: { data: [[[1, 2]]] }, style_dp: { data: [[[3], [4]]] } }),
};

/** Each character lasts 2 ms; a step adds nothing, and the vocoder tells the latent. */
async function supertonic(files: Readonly<Record<string, string>> = FILES, secondsOfOne = 0.002) {
  const steps: number[][] = [];
  const heard: Feeds[] = [];
  const handler = await createTestHandler(TextToSpeech, {
    files,
    inputs: [
      float('noisy_latent', 1, 2, null),
      float('text_emb', 1, 4, null),
      float('style_ttl', 1, 1, 2),
      MASK,
      float('latent_mask', 1, 1, null),
      float('current_step', 1),
      float('total_step', 1),
    ],
    outputs: ((feeds: Feeds) => {
      steps.push([...numbers(feeds, 'current_step'), ...numbers(feeds, 'total_step')]);
      return { denoised_latent: feeds['noisy_latent'] };
    }) as never,
    nodes: {
      encoder: {
        inputs: [IDS, float('style_ttl', 1, 1, 2), MASK],
        outputs: ((feeds: Feeds) => {
          heard.push(feeds);
          const length = feeds['text_ids']!.dims[1]!;
          return { text_emb: { dtype: 'float32', dims: [1, 4, length], data: new Float32Array(4 * length) } };
        }) as never,
      },
      duration: {
        inputs: [IDS, float('style_dp', 1, 2, 1), MASK],
        outputs: ((feeds: Feeds) => ({ duration: [feeds['text_ids']!.dims[1]! * secondsOfOne + 0.0001] })) as never,
      },
      vocoder: {
        inputs: [float('latent', 1, 2, null)],
        outputs: ((feeds: Feeds) => ({ wav_tts: [numbers(feeds, 'latent')] })) as never,
      },
    },
  });
  // The stand-ins are tried once.
  steps.length = heard.length = 0;
  const speak = async (text: string, params: Readonly<Record<string, unknown>> = {}): Promise<SpokenAudio> =>
    (await handler.predict(text, { params })) as SpokenAudio;
  return { ...handler, speak, steps, heard };
}

/** Python's: `noise` and `prepared` of test/models/tasks/make/supertonic.py. */
const NOISE_OF_7 = [
  -0.03161436691880226, -1.0782397985458374, -0.8293723464012146, -1.337319254875183, 0.19786879420280457,
];
const NOISE_OF_LARGE = [-0.2890383303165436, -0.4112858176231384, -0.6060160398483276];
const PREPARED = [
  ['Hello there', 'Hello there.'],
  ["He said ``so'' [1/2] — “yes” , ok !  ", `He said'so' 1 2 - "yes", ok!`],
  ['a@b.c, e.g., x; i.e., y :z', 'a at b.c, for example, x; that is, y:z.'],
  ['Zoë’s 1’ #tag_name ☎ 🇩🇪 ©', "Zoe\u0308's 1' tag name."],
  ['ﬁne… ok»', 'fine... ok»'],
] as const;

test('the noise is normal, and is that of its seed', () => {
  const close = (values: readonly number[]): unknown[] => values.map((one): unknown => expect.closeTo(one, 6));
  expect([...gaussian(7, 5)]).toEqual(close(NOISE_OF_7));
  expect([...gaussian(2 ** 40 + 5, 3)]).toEqual(close(NOISE_OF_LARGE));
  const many = gaussian(1, 20_000);
  const mean = many.reduce((sum, one) => sum + one, 0) / many.length;
  expect(mean).toBeCloseTo(0, 1);
  expect(many.reduce((sum, one) => sum + one * one, 0) / many.length).toBeCloseTo(1, 1);
});

test("a text is prepared as by Supertone's code", () => {
  for (const [given, expected] of PREPARED) expect(prepareText(given)).toBe(expected);
});

test('a part lasts as long as the model says, less at a higher speed; between two parts there is silence', async () => {
  const { speak } = await supertonic();
  // With the full stop, three characters.
  expect((await speak('ab')).audio.samples).toHaveLength(6);
  expect((await speak('ab', { speed: 2 })).audio.samples).toHaveLength(3);
  const { audio, parts } = await speak('ab. cd', { seed: 1 });
  expect([audio.sampleRate, audio.samples.length]).toEqual([1000, 6 + 300 + 6]);
  expect([...audio.samples.subarray(6, 306)].every((one) => one === 0)).toBe(true);
  expect(parts).toEqual([
    { text: 'ab.', start: 0, end: 0.006 },
    { text: 'cd', start: 0.006, end: 0.312 },
  ]);
});

test('a seed makes the same sound, none another one; the noise is made sound in steps', async () => {
  const { speak, steps } = await supertonic();
  const first = (await speak('ab', { seed: 5, numInferenceSteps: 2 })).audio.samples;
  expect(steps).toEqual([
    [0, 2],
    [1, 2],
  ]);
  expect((await speak('ab', { seed: 5 })).audio.samples).toEqual(first);
  expect(steps).toHaveLength(2 + 5);
  expect([...first]).toEqual([...gaussian(5, 6)]);
  expect((await speak('ab', { seed: 6 })).audio.samples).not.toEqual(first);
  expect((await speak('ab')).audio.samples).not.toEqual((await speak('ab')).audio.samples);
});

test('a language is marked around each part', async () => {
  const { speak, heard } = await supertonic();
  await speak('a', { language: 'en' });
  expect(String.fromCharCode(...numbers(heard[0]!, 'text_ids'))).toBe('<en>a.</en>');
  await speak('a');
  expect(String.fromCharCode(...numbers(heard[1]!, 'text_ids'))).toBe('a.');
});

for (const [params, message] of [
  [{ voice: 'F9' }, /params.voice: there is no "F9" here. There are M1; name others/],
  [{ language: 'english' }, /params.language: expected the code of a language, such as en, got "english"/],
  [{ noiseScale: 0.5 }, /params.noiseScale/],
  [{ speakerEmbedding: [1] }, /params.speakerEmbedding/],
  [{ numInferenceSteps: 0 }, /numInferenceSteps/],
] as const)
  test(`refused: ${JSON.stringify(params)}`, async () => {
    const { speak } = await supertonic();
    await expect(speak('ab', params)).rejects.toMatchObject({
      code: 'invalid-input',
      message: expect.stringMatching(message),
    });
  });

test('a model without marks of languages, and a text without a letter', async () => {
  const plain = {
    ...FILES,
    'unicode_indexer.json': JSON.stringify(Array.from({ length: 128 }, (_, at) => (at > 64 ? at : -1))),
  };
  const { speak } = await supertonic(plain);
  await expect(speak('ab', { language: 'en' })).rejects.toMatchObject({
    code: 'invalid-input',
    message: expect.stringMatching(/no marks of languages/),
  });
  await expect(speak('🙂 !')).rejects.toMatchObject({ message: expect.stringMatching(/knows no letter of/) });
});

for (const [file, text, code, message] of [
  [
    'tts.json',
    '{"ae":{"sample_rate":1000,"base_chunk_size":2},"ttl":{"latent_dim":2}}',
    'model-config',
    /chunk_compress_factor/,
  ],
  ['unicode_indexer.json', '{}', 'model-format', /unicode_indexer.json must be a list of numbers/],
  ['M1.json', '{"style_ttl":{"data":[1]}}', 'model-format', /M1.json is no voice: style_dp has no list/],
  ['M1.json', '{"style_ttl":{"data":[1,2,3]},"style_dp":{"data":[1,2]}}', 'model-config', /it is of another model/],
] as const)
  test(`${file} that is wrong: ${text.slice(0, 40)}`, async () => {
    const opened = supertonic({ ...FILES, [file]: text }).then(({ speak }) => speak('ab'));
    await expect(opened).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });

for (const seconds of [NaN, Infinity, -1])
  test(`a duration that is none: ${seconds}`, async () => {
    const { speak } = await supertonic(FILES, seconds);
    await expect(speak('ab')).rejects.toMatchObject({
      code: 'inference-failed',
      message: expect.stringMatching(/3 characters last .* seconds. Set engine.dtype/),
    });
  });

test('the files of a repository: those of the voices that the config names', () => {
  const own = { model_type: 'onnx', model_name: 'Supertonic' };
  const always = ['onnx/tts.json', 'onnx/unicode_indexer.json'];
  expect(supertonicFiles(own, undefined)).toEqual([...always, 'voice_styles/M1.json']);
  expect(supertonicFiles(own, ['F1', 'F2'])).toEqual([...always, 'voice_styles/F1.json', 'voice_styles/F2.json']);
  expect(supertonicFiles({ model_type: 'supertonic' }, ['F1'])).toEqual(['voices/F1.bin']);
  expect(supertonicFiles({ model_type: 'onnx' }, undefined)).toEqual([]);
});
