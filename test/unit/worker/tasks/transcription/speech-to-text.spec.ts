// The texts are compared with transformers' in `test/browser/coverage.spec.ts`; here, what the handler adds to them.
import { expect, test } from '@playwright/test';
import type { Tensor } from '../../../../../src/contract/tensors.ts';
import { soundOf } from '../../../../models/tasks/sound.ts';
import { openSpeech, RATE, sound } from '../../../support/speech.ts';

const code = (name: string, words: string | RegExp) => ({
  code: name,
  message: typeof words === 'string' ? expect.stringContaining(words) : expect.stringMatching(words),
});

test('rows of a batch have the texts that each has alone, and a row that is no sound fails alone', async () => {
  const { ask } = await openSpeech('write-whisper');
  const { rows } = await ask([sound(3), 'text', sound(4)]);
  const [first] = (await ask([sound(3)])).rows;
  const [last] = (await ask([sound(4)])).rows;
  expect(rows).toEqual([first, expect.objectContaining(code('invalid-input', 'Expected audio')), last]);
  expect(first!.text).not.toBe(last!.text);
  expect(first).toMatchObject({ finishReason: expect.any(String), usage: { promptTokens: 0, cachedTokens: 0 } });
});

test('logits that are NaN are no text, nor a language', async () => {
  const { ask } = await openSpeech('write-whisper', {}, {}, ({ logits, ...others }) =>
    logits
      ? { ...others, logits: { ...logits, data: (logits.data as Float32Array).map(() => NaN) } as Tensor }
      : others,
  );
  for (const params of [{}, { timestamps: 'segment' }])
    await expect(ask([sound(3)], params)).rejects.toMatchObject(code('inference-failed', 'the logit NaN'));
});

test('of a model whose generation_config.json names no times, a window is answered once, as in transformers', async () => {
  const { ask } = await openSpeech('write-whisper', {
    'generation_config.json': { no_timestamps_token_id: null, suppress_tokens: null },
  });
  const { rows } = await ask([sound(3)], { maxNewTokens: 20 });
  expect(rows[0]!.usage.completionTokens).toBeLessThanOrEqual(20);
});

test('what only texts have is no key here, and has no effect', async () => {
  const { ask, warnings } = await openSpeech('write-whisper');
  const { rows } = await ask([sound(3)]);
  expect((await ask([sound(3)], { forcedBosTokenId: 3, decoderStartTokenId: 3 })).rows).toEqual(rows);
  expect(warnings.join()).toMatch(/forcedBosTokenId.* not .*known key/);
});

test('a text comes in parts: of one window token by token, of several window by window', async () => {
  const { ask } = await openSpeech('write-whisper');
  const short = await ask([sound(3)]);
  expect(short.parts.length).toBeGreaterThan(2);
  expect(short.parts.join('')).toBe(short.rows[0]!.text);
  const long = await ask([sound(9)]);
  expect(long.parts.length).toBeGreaterThan(2);
  expect(long.parts.join('')).toBe(long.rows[0]!.text);
  const timed = await ask([sound(9)], { timestamps: 'segment' });
  expect(timed.parts.join('')).toBe(timed.rows[0]!.text);
  const { parts } = timed.rows[0]!;
  expect(parts!.map(({ text }) => text).join('')).toBe(timed.rows[0]!.text);
  expect(parts!.length).toBeGreaterThan(1);
});

test('words come with their segments, and a stream of them in the parts of the text', async () => {
  const { ask } = await openSpeech('write-whisper-words');
  const { rows, parts } = await ask([sound(4)], { timestamps: 'word' });
  const { text, segments, language, languageProbability, ...others } = rows[0]!;
  expect(others.parts!.map((word) => word.text).join('')).toBe(text);
  expect(segments!.map((segment) => segment.text).join('')).toBe(text);
  expect(segments!.length).toBeLessThan(others.parts!.length);
  expect(parts.join('')).toBe(text);
  expect([language, languageProbability]).toEqual(['zh', expect.closeTo(0.735, 3)]);
  const given = (await ask([sound(3)], { language: 'de' })).rows[0]!;
  expect([given.language, given.languageProbability]).toEqual(['de', undefined]);
});

test('another worker goes on behind the parts that were sent; one that writes another text says so', async () => {
  const { ask } = await openSpeech('write-whisper');
  const { rows, parts, resumes } = await ask([sound(9)]);
  const at = 2;
  const rest = await ask([sound(9)], {}, resumes[at]);
  expect(rest.parts).toEqual(parts.slice(at + 1));
  expect(rest.rows).toEqual(rows);
  const other = { ...(resumes[at] as object), tokens: Int32Array.of(1, 2, 3) };
  await expect(ask([sound(9)], {}, other)).rejects.toMatchObject(
    code('worker-lost', 'has written another text. Ask again.'),
  );
});

for (const [repository, timestamps] of [
  ['write-whisper', undefined],
  ['write-whisper-words', 'word'],
  ['write-moonshine', undefined],
] as const)
  test(`a live recording whose end is told has the words of the whole: ${repository}`, async () => {
    const { ask, openSequence } = await openSpeech(repository);
    const { samples } = sound(3);
    const params = timestamps && { timestamps };
    const next = openSequence();
    // Too short for a hypothesis, and for Moonshine to be heard at all.
    const first = await next({ samples: samples.slice(0, 500), sampleRate: RATE }, params);
    expect(first).toEqual({ final: { text: '', parts: [] }, interim: { text: '', parts: [] } });
    const rest = { samples: samples.slice(500), sampleRate: RATE };
    const { final, interim } = await next(rest, { ...params, finalize: true });
    // The resampler keeps one sample back.
    const heard = { samples: samples.slice(0, -1), sampleRate: RATE };
    const times = repository !== 'write-moonshine' && { timestamps: timestamps ?? 'segment' };
    const [whole] = (await ask([heard], { ...times })).rows;
    expect(final.text).toBe(whole!.text);
    expect(final.parts.map(({ text }) => text).join('')).toBe(final.text);
    expect(final.parts.length).toBeGreaterThan(2);
    expect(interim).toEqual({ text: '', parts: [] });
    // Words without times of their own have those of their segments, or of the sound.
    const segments = whole!.parts ?? [{ text: '', start: 0, end: heard.samples.length / RATE }];
    const known = new Set(segments.map(({ start, end }) => `${start} ${end}`));
    expect(final.parts.filter(({ start, end }) => !known.has(`${start} ${end}`))).toEqual([]);
  });

test('what excludes each other, and what the model cannot do, is refused by name', async () => {
  const { ask } = await openSpeech('write-whisper');
  for (const [params, words] of [
    [{ timestamps: 'word' }, 'this export has no outputs "cross_attentions.0"'],
    [{ timestamps: 'segment', stop: 'a' }, 'params.stop: it is not supported with timestamps'],
    [{ topLogprobs: 1 }, "params.topLogprobs: it is not supported for a recording's text"],
    [{ language: 'xx' }, 'params.language: the model has no language "xx". It has de, en, es, ru, zh.'],
    [{ chunkLength: 5 }, 'params.chunkLength: the model hears 4 s at once, and 5 s are more'],
    [{ suppressTokens: [100_000] }, 'suppressTokens: the vocabulary has'],
    [{ numReturnSequences: 2 }, 'params.numReturnSequences: it is not supported'],
  ] as const) {
    const failed = ask([sound(3)], params).then(({ rows }) => rows[0]);
    expect(await failed.catch((error: unknown) => error), words).toMatchObject(code('invalid-input', words));
  }
  const english = await openSpeech('write-whisper-english');
  for (const params of [{ language: 'en' }, { task: 'translate' }])
    expect((await english.ask([sound(3)], params)).rows[0]).toMatchObject(
      code('invalid-input', 'the model is for English alone'),
    );
});

test('Moonshine hears a recording whole: it has no chunks, no times and one language', async () => {
  const { ask } = await openSpeech('write-moonshine');
  const samples = soundOf(894);
  for (const [input, params, words] of [
    [sound(1), { chunkLength: 2 }, 'params.chunkLength: the model hears a recording whole'],
    [sound(1), { timestamps: 'segment' }, 'params.timestamps: the model writes no times'],
    [sound(1), { language: 'en' }, 'params.language: generation_config.json has no lang_to_id'],
    [{ samples, sampleRate: RATE }, {}, 'The audio has 894 samples at 16000 Hz, and the model needs at least 895.'],
  ] as const)
    expect((await ask([input], params)).rows[0], words).toMatchObject(code('invalid-input', words));
  const { rows, parts } = await ask([{ samples: soundOf(895), sampleRate: RATE }]);
  expect(parts.join('')).toBe(rows[0]!.text);
  const wrong = { 'preprocessor_config.json': { feature_extractor_type: 'WhisperFeatureExtractor' } };
  await expect(openSpeech('write-moonshine', wrong)).rejects.toMatchObject(
    code('model-config', 'feature_extractor_type is "WhisperFeatureExtractor"; expected Wav2Vec2FeatureExtractor'),
  );
});

test('the files decide where no request does', async () => {
  const params = { language: 'de', task: 'translate', timestamps: 'segment' };
  const { ask } = await openSpeech('write-whisper');
  const asked = await ask([sound(4)], params);
  const files = await openSpeech('write-whisper', {
    'generation_config.json': { language: '<|de|>', task: 'translate', return_timestamps: true },
  });
  expect((await files.ask([sound(4)])).rows).toEqual(asked.rows);
  const config = await openSpeech('write-whisper', {}, { handler: params });
  expect((await config.ask([sound(4)])).rows).toEqual(asked.rows);
  expect(files.warnings).toEqual([]);
});

test('what the files say and has no effect here is told', async () => {
  const { warnings } = await openSpeech('write-whisper', {
    'generation_config.json': { condition_on_prev_tokens: true },
    'preprocessor_config.json': { dither: 0.1 },
  });
  expect(warnings).toEqual([
    expect.stringContaining('dither adds noise'),
    'generation_config.json: condition_on_prev_tokens would change answers in transformers, and has no effect here.',
  ]);
});

for (const [what, changes, config, words] of [
  [
    'other features',
    { 'preprocessor_config.json': { feature_extractor_type: 'Wav2Vec2FeatureExtractor' } },
    {},
    'feature_extractor_type is "Wav2Vec2FeatureExtractor"; expected WhisperFeatureExtractor',
  ],
  [
    'more mels than the encoder takes',
    { 'preprocessor_config.json': { feature_size: 128 } },
    {},
    'makes 128 mels and 400 frames',
  ],
  [
    'another window',
    { 'preprocessor_config.json': { chunk_length: 30 } },
    {},
    'max_source_positions is 200; expected 1500',
  ],
  ['a step that leaves a rest', { 'preprocessor_config.json': { hop_length: 17 } }, {}, 'hop_length is 17'],
  ['a frame of a gigabyte', { 'preprocessor_config.json': { n_fft: 2 ** 30 } }, {}, 'n_fft is 1073741824'],
  ['a frame of a large prime', { 'preprocessor_config.json': { n_fft: 2 * 67 } }, {}, 'n_fft is 134'],
  ['no rate', { 'preprocessor_config.json': { sampling_rate: 0.5 } }, {}, 'sampling_rate is 0.5'],
  ['tokens of languages that are none', { 'generation_config.json': { lang_to_id: { en: 'x' } } }, {}, 'lang_to_id is'],
  [
    'times that begin elsewhere in the tokenizer',
    { 'generation_config.json': { no_timestamps_token_id: 400 } },
    {},
    'has 400 as no_timestamps_token_id, and the tokenizer has "<|notimestamps|>" as 432',
  ],
  [
    'tokens that the model does not have',
    { 'generation_config.json': { lang_to_id: { de: 5000 } } },
    { language: 'de' },
    'language, task and no_timestamps_token_id: the vocabulary has',
  ],
  ['chunks that are too long', {}, { chunkLength: 5 }, 'handler.chunkLength: the model hears 4 s'],
  ['a language that is not there', {}, { language: 'xx' }, 'handler or generation_config.json: params.language'],
  ['times of words', {}, { timestamps: 'word' }, 'params.timestamps: "word" needs the cross attentions'],
] as const)
  test(`what cannot be is refused when the model is opened: ${what}`, async () => {
    await expect(openSpeech('write-whisper', changes, { handler: config })).rejects.toMatchObject(
      code('model-config', words),
    );
  });
