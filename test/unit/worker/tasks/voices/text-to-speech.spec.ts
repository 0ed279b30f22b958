// The samples are compared with Python's in `test/browser/coverage.spec.ts`.
import { expect, test } from '@playwright/test';
import { createTestHandler, TextToSpeech } from '../../../../../src/worker.ts';
import type { SpokenAudio } from '../../../../../src/contract/spoken-text.ts';
import { openWav } from '../../../../../src/worker/audio/wav.ts';

const int64 = (name: string) => ({ name, dtype: 'int64', dims: [1, null] }) as const;
const LETTERS = { ' ': 1, a: 2, b: 3, c: 4 };
const VITS = {
  'vocab.json': JSON.stringify({ _: 0, ...LETTERS }),
  'tokenizer_config.json': JSON.stringify({ add_blank: false, normalize: true, phonemize: false }),
  'config.json': JSON.stringify({ sampling_rate: 2000 }),
};
/** A sample for each token: its number over ten. */
const sayIds = ({ input_ids }: Readonly<Record<string, { data: unknown }>>) => ({
  waveform: [Array.from(input_ids!.data as BigInt64Array, (id) => Number(id) / 10)],
});
const vits = (files: Readonly<Record<string, string>> = VITS, outputs: object = sayIds) =>
  createTestHandler(TextToSpeech, {
    inputs: [int64('input_ids'), int64('attention_mask')],
    outputs: outputs as never,
    files,
  });
const said = (found: unknown) => Array.from((found as SpokenAudio).audio.samples, (one) => Math.round(one * 10));

test('VITS: letters in lower case, without what the vocabulary lacks', async () => {
  const { predict, runs } = await vits();
  const found = (await predict(' A-b, C ')) as SpokenAudio;
  expect(said(found)).toEqual([2, 3, 1, 4]);
  expect(found).toMatchObject({ audio: { sampleRate: 2000 }, parts: [{ text: 'A-b, C', start: 0, end: 4 / 2000 }] });
  expect(runs.at(-1)!['attention_mask']!.data).toEqual(BigInt64Array.of(1n, 1n, 1n, 1n));
});

test('VITS: the vocabulary of the tokenizer.json that transformers.js’ converter writes; blanks', async () => {
  const { predict } = await vits({
    'tokenizer.json': JSON.stringify({ model: { vocab: { _: 0, ...LETTERS } } }),
    'tokenizer_config.json': JSON.stringify({ phonemize: false }),
  });
  expect(said(await predict('ab'))).toEqual([0, 2, 0, 3, 0]);
});

test('a stream: a part for each sentence, which joined are the result', async () => {
  const { stream } = await vits();
  const parts = (await stream('Ab a. C!\nBa')) as readonly SpokenAudio[];
  const whole = parts.at(-1)!;
  expect(parts.slice(0, -1).map(said)).toEqual([[2, 3, 1, 2], [4], [3, 2]]);
  expect(said(whole)).toEqual([2, 3, 1, 2, 4, 3, 2]);
  expect(parts.slice(0, -1).flatMap(({ parts: own }) => own)).toEqual(whole.parts);
  expect(whole.parts.map(({ start, end }) => [start * 2000, end * 2000])).toEqual([
    [0, 4],
    [4, 5],
    [5, 7],
  ]);
});

test('result: wav is a file with the same samples', async () => {
  const { predict } = await vits();
  const file = (await predict('abc', { params: { result: 'wav' } })) as unknown as Blob;
  expect(file.type).toBe('audio/wav');
  const wav = await openWav(file);
  expect(wav).toMatchObject({ sampleRate: 2000, length: 3 });
  for await (const block of wav.blocks())
    expect([...block]).toEqual([0.2, 0.3, 0.4].map((one) => expect.closeTo(one, 4)));
});

for (const [what, input, params, message] of [
  ['an empty text', '', {}, /The text is empty/],
  ['spaces', ' \n', {}, /The text is empty/],
  ['no letter that is known', '漢字', {}, /knows no letter of "漢字". Pass a text in its language, with numbers/],
  ['a text that is too long', 'a'.repeat(10_001), {}, /length of 10001, and the limit is 10000/],
  ['a word that is too long', 'a'.repeat(1001), {}, /is longer than the model can speak at once/],
  ['a pair', { text: 'a', textPair: 'b' }, {}, /got a pair/],
  ['an unknown key', { phoneme: 'a' }, {}, /Expected a string/],
  ['phonemes', { phonemes: 'a' }, {}, /reads letters, not phonemes/],
  ['a number', 3, {}, /got number/],
  ['a voice', 'a', { voice: 'ann' }, /params.voice: the model has one voice/],
  ['a speed', 'a', { speed: 2 }, /params.speed: .* set playbackRate/],
  ['a speed that is none', 'a', { speed: 9 }, /params.speed/],
  ['a speaker', 'a', { speakerEmbedding: [1] }, /params.speakerEmbedding: .* Leave it out/],
  ['noise', 'a', { noiseScale: 0.5 }, /params.noiseScale: .* the export has fixed/],
  ['a language', 'a', { language: 'en' }, /params.language: the model speaks one language/],
  ['steps', 'a', { numInferenceSteps: 5 }, /params.numInferenceSteps: the model makes its sound at once/],
  ['a seed', 'a', { seed: 5 }, /params.seed: the model draws its random numbers itself/],
] as const)
  test(`VITS: ${what}`, async () => {
    const { handle } = await vits();
    const isParam = what === 'a speed that is none';
    const asked = handle([input as string], { params: { ...params } });
    if (isParam)
      return await expect(asked).rejects.toMatchObject({
        code: 'invalid-input',
        message: expect.stringMatching(message),
      });
    expect((await asked)[0]).toMatchObject({ code: 'invalid-input', message: expect.stringMatching(message) });
  });

test('rows of a batch: a bad one fails alone', async () => {
  const { handle } = await vits();
  const found = await handle(['ab', '', 'c']);
  expect([said(found[0]), said(found[2])]).toEqual([[2, 3], [4]]);
  expect(found[1]).toMatchObject({ code: 'invalid-input', stage: 'preprocess' });
});

for (const [what, waveform, message] of [
  ['NaN', [[0, NaN]], /no number at sample 1: it is NaN/],
  ['no samples', [[]], /"waveform" has no samples/],
] as const)
  test(`a model that returns ${what}`, async () => {
    const { predict } = await vits(VITS, { waveform });
    await expect(predict('a')).rejects.toMatchObject({
      code: 'inference-failed',
      message: expect.stringMatching(message),
    });
  });

for (const [what, files, message] of [
  ['without a vocabulary', {}, /neither vocab.json nor tokenizer.json/],
  ['with a vocabulary that is none', { 'vocab.json': '["a"]' }, /vocab.json is no vocabulary/],
  [
    'with a sample rate that is none',
    { ...VITS, 'config.json': '{"sampling_rate":"fast"}' },
    /sample rate must be .* not fast. Set handler.sampleRate/,
  ],
] as const)
  test(`a repository ${what}`, async () => {
    await expect(vits(files)).rejects.toThrow(message);
  });

test('a model that does not speak', async () => {
  const open = createTestHandler(TextToSpeech, {
    inputs: [int64('input_ids')],
    outputs: { logits: [[1]] },
    files: VITS,
  });
  await expect(open).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringMatching(/none of them: its inputs are "input_ids", its outputs "logits"/),
  });
});

const STYLES = new Uint8Array(Float32Array.from({ length: 4 * 256 }, (_, at) => Math.floor(at / 256)).buffer);
const KOKORO = {
  inputs: [
    int64('input_ids'),
    { name: 'style', dtype: 'float32', dims: [1, 256] },
    { name: 'speed', dtype: 'float32', dims: [1] },
  ] as const,
  outputs: sayIds as never,
  files: { 'tokenizer.json': JSON.stringify({ model: { vocab: { $: 0, ...LETTERS } } }), 'af_heart.bin': STYLES },
};

test('Kokoro: marks at both ends, and the style for the number of phonemes, at most the last', async () => {
  const { predict, runs } = await createTestHandler(TextToSpeech, KOKORO);
  expect(said(await predict({ phonemes: 'abX' }, { params: { speed: 2 } }))).toEqual([0, 2, 3, 0]);
  expect(runs.at(-1)).toMatchObject({ style: { dims: [1, 256] }, speed: { data: Float32Array.of(2) } });
  const styleOf = () => (runs.at(-1)!['style']!.data as Float32Array)[7];
  expect(styleOf()).toBe(2);
  await predict({ phonemes: 'abcabc' });
  expect(styleOf()).toBe(3);
});

test('Kokoro: texts need a phonemizer, which a subclass has', async () => {
  const { handle } = await createTestHandler(TextToSpeech, KOKORO);
  expect((await handle(['ab']))[0]).toMatchObject({
    code: 'unsupported',
    message: expect.stringMatching(/reads phonemes.*Pass \{ phonemes \}, or extend TextToSpeech/),
  });
  class Reader extends TextToSpeech {
    protected override phonemize(text: string): string {
      return [...text].toReversed().join('');
    }
  }
  const { predict } = await createTestHandler(Reader, KOKORO);
  expect(said(await predict('ab'))).toEqual([0, 3, 2, 0]);
});

test('Kokoro: a voice that is not there, and a file that is none', async () => {
  const { handle } = await createTestHandler(TextToSpeech, KOKORO);
  expect((await handle([{ phonemes: 'a' }], { params: { voice: 'bf_emma' } }))[0]).toMatchObject({
    code: 'invalid-input',
    message: expect.stringMatching(/params.voice: there is no "bf_emma" here. There are af_heart; name others/),
  });
  const files = { ...KOKORO.files, 'af_heart.bin': new Uint8Array(100) };
  await expect(createTestHandler(TextToSpeech, { ...KOKORO, files })).rejects.toThrow(
    /af_heart.bin is no voice: it has 100 bytes/,
  );
});

const PIPER = {
  inputs: [
    int64('input'),
    { name: 'input_lengths', dtype: 'int64', dims: [1] },
    { name: 'scales', dtype: 'float32', dims: [3] },
    { name: 'sid', dtype: 'int64', dims: [1] },
  ] as const,
  outputs: (({ input }: Readonly<Record<string, { data: BigInt64Array }>>) => ({
    output: [[[Array.from(input!.data, (id) => Number(id) / 10)]]],
  })) as never,
  files: {
    'model.onnx.json': JSON.stringify({
      audio: { sample_rate: 22_050 },
      inference: { noise_scale: 0.5, length_scale: 1.5, noise_w: 0.25 },
      phoneme_id_map: { _: [0], '^': [1], $: [2], a: [3], ɔ: [4, 5], '\u0303': [6] },
      num_speakers: 2,
      speaker_id_map: { ann: 1, joe: 0 },
    }),
  },
};

test('Piper: marks, blanks and decomposed phonemes; scales and speakers', async () => {
  const { predict, runs } = await createTestHandler(TextToSpeech, PIPER);
  expect(said(await predict({ phonemes: 'aɔ̃X' }, { params: { voice: 'ann', speed: 2 } }))).toEqual([
    1, 0, 3, 0, 4, 5, 0, 6, 0, 2,
  ]);
  expect(runs.at(-1)).toMatchObject({
    input_lengths: { data: BigInt64Array.of(10n) },
    scales: { data: Float32Array.of(0.5, 0.75, 0.25) },
    sid: { data: BigInt64Array.of(1n) },
  });
  await predict({ phonemes: 'a' }, { params: { voice: '0', noiseScale: 0, durationNoise: 0 } });
  expect(runs.at(-1)).toMatchObject({
    scales: { data: Float32Array.of(0, 1.5, 0) },
    sid: { data: BigInt64Array.of(0n) },
  });
});

test('Piper: a speaker that is not there, and files that are wrong', async () => {
  const { handle } = await createTestHandler(TextToSpeech, PIPER);
  for (const voice of ['2', 'may', '-1'])
    expect((await handle([{ phonemes: 'a' }], { params: { voice } }))[0]).toMatchObject({
      message: expect.stringMatching(`there is no "${voice}". The model has ann, joe`),
    });
  await expect(createTestHandler(TextToSpeech, { ...PIPER, files: {} })).rejects.toThrow(/has no model.onnx.json/);
  const files = { 'model.onnx.json': '{"phoneme_id_map":{"a":"b"}}' };
  await expect(createTestHandler(TextToSpeech, { ...PIPER, files })).rejects.toThrow(/has no phoneme_id_map/);
});
