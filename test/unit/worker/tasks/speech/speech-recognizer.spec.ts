// The texts are compared with transformers' in `test/browser/coverage.spec.ts`.
import { expect, test } from '@playwright/test';
import { soundOf } from '../../../../models/tasks/sound.ts';
import { SpeechRecognizer, type SpokenText } from '../../../../../src/worker/tasks/speech/speech-recognizer.ts';
import type { Params } from '../../../../../src/contract/handler.ts';
import { recordingOf } from '../../../../../src/worker/audio/read-audio.ts';
import { SampleReader } from '../../../../../src/worker/audio/sample-reader.ts';
import { speechChunks } from '../../../../../src/worker/audio/speech-chunks.ts';
import {
  decodeFrames,
  joinText,
  joinWords,
  type CtcVocabulary,
} from '../../../../../src/worker/tasks/speech/ctc-text.ts';
import { createTestContext } from '../../../../../src/worker.ts';
import { stubSession } from '../../../support/stub-session.ts';
import { openTask } from '../../handlers/task-models.ts';

const sound = (length: number) => ({ samples: soundOf(length), sampleRate: 16_000 });

test('rows of a batch of different lengths have the texts that each has alone', async () => {
  await using model = await openTask(new SpeechRecognizer(), 'speech-wav2vec2');
  const together = (await model.ask([sound(24_000), sound(40_000)])) as SpokenText[];
  const alone = [...(await model.ask([sound(24_000)])), ...(await model.ask([sound(40_000)]))];
  expect(together).toEqual(alone);
  expect(together[0]).not.toEqual(together[1]);
});

test('sound that is too short, and what is no sound, fail alone', async () => {
  await using model = await openTask(new SpeechRecognizer(), 'speech-wav2vec2');
  const answers = await model.ask([sound(399), sound(400), 'text']);
  expect(answers).toMatchObject([
    {
      code: 'invalid-input',
      message: expect.stringContaining('399 samples at 16000 Hz, and the model needs at least 400'),
    },
    { text: expect.any(String) },
    { code: 'invalid-input' },
  ]);
});

const FILES = {
  'vocab.json': { '<pad>': 0, a: 1, '|': 2 },
  'tokenizer_config.json': {},
  'preprocessor_config.json': {},
  'config.json': { conv_kernel: [2], conv_stride: [2] },
};

/** Opens a model that answers with `frames`, with changes of its files. */
async function open(
  changes: Readonly<Record<string, unknown>>,
  frames: readonly (readonly number[])[] = [],
  config: Params = {},
) {
  const files = Object.fromEntries(
    Object.entries({ ...FILES, ...changes }).flatMap(([name, json]) => (json ? [[name, JSON.stringify(json)]] : [])),
  );
  const session = stubSession(
    [{ name: 'input_values', dtype: 'float32', dims: [null, null] }],
    [{ name: 'logits', dtype: 'float32', dims: [null, null, 3] }],
    () => ({ logits: { dtype: 'float32', dims: [1, frames.length, 3], data: Float32Array.from(frames.flat()) } }),
  );
  const handler = new SpeechRecognizer();
  const given = { session, files, config: { handler: config } };
  await handler.initialize(createTestContext(given));
  return async (params: Params = {}) => await handler.handle([sound(6)], createTestContext({ ...given, params }));
}

for (const [what, changes, message] of [
  ['a missing file', { 'vocab.json': undefined }, /has no vocab\.json/],
  ['tokens of several languages', { 'vocab.json': { eng: { a: 0 } } }, /tokens of several languages/],
  ['no blank', { 'tokenizer_config.json': { pad_token: '[PAD]' } }, /pad_token is "\[PAD\]"/],
  [
    'features of another kind',
    { 'preprocessor_config.json': { feature_extractor_type: 'WhisperFeatureExtractor' } },
    /feature_extractor_type is "WhisperFeatureExtractor"/,
  ],
  ...[0, 16_000.5, '16000', 1e9].map(
    (rate) =>
      [
        `a rate of ${rate}`,
        { 'preprocessor_config.json': { sampling_rate: rate } },
        /sampling_rate is .*whole/,
      ] as const,
  ),
  // transformers writes the sounds of such a model with spaces between them.
  [
    'phonemes instead of characters',
    { 'tokenizer_config.json': { tokenizer_class: 'Wav2Vec2PhonemeCTCTokenizer', word_delimiter_token: null } },
    /tokenizer_class is "Wav2Vec2PhonemeCTCTokenizer"/,
  ],
  [
    'phonemes instead of characters, by config.json',
    { 'config.json': { ...FILES['config.json'], tokenizer_class: 'Wav2Vec2PhonemeCTCTokenizer' } },
    /tokenizer_class is "Wav2Vec2PhonemeCTCTokenizer"/,
  ],
  ['fewer frames', { 'config.json': { ...FILES['config.json'], add_adapter: true } }, /add_adapter is true/],
  ['no strides', { 'config.json': {} }, /conv_stride is missing/],
  [
    'more tokens than the model has',
    { 'vocab.json': { '<pad>': 0, b: 3 } },
    /token number 3, and the model's output "logits" has 3/,
  ],
] as const)
  test(`what the files say and cannot be is refused: ${what}`, async () => {
    await expect(open(changes)).rejects.toMatchObject({
      code: 'model-config',
      message: expect.stringMatching(message),
    });
  });

test('handler.sampleRate counts instead of a rate that the files lack', async () => {
  const heard = await open({ 'preprocessor_config.json': { sampling_rate: null } }, [[0, 1, 0]], { sampleRate: 8000 });
  expect(await heard({ timestamps: 'character' })).toEqual([
    { text: 'a', parts: [{ text: 'a', start: 0, end: 2 / 8000 }] },
  ]);
});

test('a stream says after each chunk how far the work is; an abort ends it after the chunk that is heard', async () => {
  let runs = 0;
  const controller = new AbortController();
  const session = stubSession(
    [{ name: 'input_values', dtype: 'float32', dims: [null, null] }],
    [{ name: 'logits', dtype: 'float32', dims: [null, null, 3] }],
    () => {
      if (++runs === 6) controller.abort();
      return { logits: { dtype: 'float32', dims: [1, 1, 3], data: Float32Array.of(0, 1, 0) } };
    },
  );
  const files = Object.fromEntries(Object.entries(FILES).map(([name, json]) => [name, JSON.stringify(json)]));
  const handler = new SpeechRecognizer();
  await handler.initialize(createTestContext({ session, files }));
  const given = { session, files, params: { chunkLength: 3 } };
  const context = createTestContext(given);
  // Chunks of three seconds begin each two.
  await handler.handle([sound(8 * 16_000)], context);
  expect(context.parts.map(({ part }) => part)).toEqual([1, 2, 3, 4].map((done) => ({ done, total: 4 })));
  const aborted = handler.handle([sound(8 * 16_000)], createTestContext({ ...given, signal: controller.signal }));
  await expect(aborted).rejects.toMatchObject({ name: 'AbortError' });
  expect(runs).toBe(6);
});

// As `Wav2Vec2CTCTokenizer.from_pretrained(…).decode` of transformers 4.57.
test('without a word delimiter, its usual text is a character', async () => {
  const frames = [
    [0, 1, 0],
    [0, 0, 1],
    [0, 1, 0],
  ];
  const heard = await open({ 'tokenizer_config.json': { word_delimiter_token: null } }, frames);
  expect(await heard()).toEqual([{ text: 'a|a' }]);
});

test('tokens that were added for training may have numbers behind the classes', async () => {
  const added = { 3: { content: '<s>' }, 4: { content: '</s>' } };
  const heard = await open({ 'tokenizer_config.json': { added_tokens_decoder: added } }, [[0, 1, 0]]);
  expect(await heard()).toEqual([{ text: 'a' }]);
});

test('a class that repeats is one character; a score that is no number fails', async () => {
  const heard = await open({}, [
    [0, 1, 0],
    [0, 1, 0],
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ]);
  expect(await heard()).toEqual([{ text: 'aa' }]);
  const broken = await open({}, [[0, NaN, 0]]);
  await expect(broken()).rejects.toMatchObject({
    code: 'inference-failed',
    message: expect.stringContaining('frame 0'),
  });
});

test('characters and words have the frames that they come from', () => {
  const vocabulary: CtcVocabulary = {
    texts: new Map([
      [0, '_'],
      [1, 'A'],
      [2, 'B'],
      [3, '|'],
    ]),
    blank: 0,
    unknown: '?',
    delimiter: '|',
    space: ' ',
    isLowerCase: true,
  };
  const parts = decodeFrames([3, 0, 1, 1, 0, 2, 3, 3, 9, 0], vocabulary);
  expect(parts).toEqual([
    { text: ' ', start: 0, end: 1 },
    { text: 'A', start: 2, end: 4 },
    { text: 'B', start: 5, end: 6 },
    { text: ' ', start: 6, end: 8 },
    { text: '?', start: 8, end: 9 },
  ]);
  expect(joinText(parts, vocabulary)).toBe('ab ?');
  expect(joinWords(parts, vocabulary)).toEqual([
    { text: 'AB', start: 2, end: 6 },
    { text: '?', start: 8, end: 9 },
  ]);
});

test('chunks overlap, and what is taken of them is the whole, once', async () => {
  const chunksOf = async (length: number, size: number, ratio: number) => {
    const samples = Float32Array.from({ length }, (_, at) => at);
    const chunks = [];
    for await (const chunk of speechChunks(new SampleReader(recordingOf(samples, 16_000), 16_000, 60), size, ratio))
      chunks.push(chunk);
    for (const { start, end, samples: own } of chunks) expect(own).toEqual(samples.slice(start, end));
    expect(chunks.map(({ isLast }) => isLast)).toEqual(chunks.map((_, index) => index === chunks.length - 1));
    return chunks;
  };
  const chunks = await chunksOf(80_000, 32_000, 320);
  expect(chunks[0]).toMatchObject({ start: 0, end: 32_000, from: 0, to: 83 });
  expect(chunks.at(-1)).toMatchObject({ end: 80_000, to: Math.round((80_000 - chunks.at(-1)!.start) / 320) });
  for (const [index, { start, from }] of chunks.entries())
    if (index > 0) expect(start / 320 + from).toBe(chunks[index - 1]!.start / 320 + chunks[index - 1]!.to);
  for (const [length, size, ratio] of [
    [32_000, 32_000, 320],
    [50_000, 16_000, 1_000_000],
    [0, 32_000, 1],
    [40_000, Infinity, 1],
  ] as const)
    expect(await chunksOf(length, size, ratio)).toMatchObject([{ start: 0, end: length, from: 0, to: Infinity }]);
});
