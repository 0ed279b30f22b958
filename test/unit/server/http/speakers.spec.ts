// Who speaks, over OpenAI's API and by its own client: `test/node/openai.spec.ts` has real models.
import { expect, test } from '@playwright/test';
import { TabServeError } from '../../../../src/contract/errors.ts';
import { failureOf, faked } from '../../support/openai-client.ts';

const MODEL = {
  modelName: 'talk',
  handler: 'conversation_transcriber',
  takes: 'audio',
  makes: 'transcript',
  resultForms: [],
} as const;
const SPOKEN = {
  text: ' Hello there. Hi. Well?',
  duration: 3.2,
  parts: [{ text: ' Hello', start: 0.1, end: 0.4 }],
  turns: [
    { speaker: 'SPEAKER_01', start: 0.1, end: 0.9, text: 'Hello there.' },
    { speaker: 'SPEAKER_00', start: 1.2, end: 1.8, text: 'Hi.' },
    { speaker: 'SPEAKER_01', start: 2, end: 2.5, text: 'Well?' },
  ],
};
const SEGMENTS = [
  { type: 'transcript.text.segment', id: 'seg_0', start: 0.1, end: 0.9, speaker: 'A', text: 'Hello there.' },
  { type: 'transcript.text.segment', id: 'seg_1', start: 1.2, end: 1.8, speaker: 'B', text: 'Hi.' },
  { type: 'transcript.text.segment', id: 'seg_2', start: 2, end: 2.5, speaker: 'A', text: 'Well?' },
];
const DIARIZED = { model: 'talk', response_format: 'diarized_json' } as const;
const recording = () => new File([new Uint8Array([1, 2, 3])], 'talk.wav', { type: 'audio/wav' });

test('who says what, whole and as events', async () => {
  const { client, openai } = await faked(() => SPOKEN, [{ done: 1, total: 2 }, 'a part'], MODEL);
  const whole = await openai.audio.transcriptions.create({ ...DIARIZED, file: recording(), chunking_strategy: 'auto' });
  const usage = { type: 'duration', seconds: 4 };
  expect(whole).toEqual({ task: 'transcribe', duration: 3.2, text: SPOKEN.text, segments: SEGMENTS, usage });
  expect(client.asked.at(-1)!.options.params).toEqual({});
  const events: unknown[] = [];
  for await (const one of await openai.audio.transcriptions.create({ ...DIARIZED, file: recording(), stream: true }))
    events.push(one);
  expect(events).toEqual([...SEGMENTS, { type: 'transcript.text.done', text: SPOKEN.text }]);
});

test('people after Z are called AA, and where nobody was heard there is one of no name', async () => {
  const turns = Array.from({ length: 28 }, (_, at) => ({
    speaker: `SPEAKER_${at}`,
    start: at,
    end: at + 1,
    text: 'a',
  }));
  const many = await faked(() => ({ text: 'a', turns }), [], { ...MODEL, handler: 'Own' });
  const found = await many.openai.audio.transcriptions.create({ ...DIARIZED, file: recording() });
  const { segments, duration } = found as unknown as { segments: { speaker: string }[]; duration: number };
  expect([segments[25]!.speaker, segments[26]!.speaker, segments[27]!.speaker]).toEqual(['Z', 'AA', 'AB']);
  expect(duration).toBe(28);
  const unheard = { ...SPOKEN, turns: [{ speaker: undefined, start: 0, end: 1, text: 'Hello' }] };
  const one = await faked(() => unheard, [], MODEL);
  expect(await one.openai.audio.transcriptions.create({ ...DIARIZED, file: recording() })).toMatchObject({
    segments: [{ speaker: 'A' }],
  });
});

test('such a model answers in the other formats, too; of a CTC model with the times of words', async () => {
  const nodes = { recognizer: { handler: 'speech_recognizer' } } as never;
  const { client, openai } = await faked(() => SPOKEN, [], { ...MODEL, nodes });
  const asked = { model: 'talk', file: recording() };
  expect(await openai.audio.transcriptions.create(asked)).toMatchObject({ text: SPOKEN.text });
  await openai.audio.transcriptions.create({ ...asked, response_format: 'srt' });
  expect(client.asked.at(-1)!.options.params).toEqual({ timestamps: 'word' });
  expect(await failureOf(openai.audio.transcriptions.create({ ...asked, language: 'de' }))).toEqual([
    400,
    'invalid_request_error',
    'language',
    'unsupported_value',
    expect.any(String),
  ]);
});

test('what does not say who speaks is refused with the way to a model that does; so are names of people', async () => {
  const refused = (param: string, says: RegExp): unknown => [
    400,
    'invalid_request_error',
    param,
    'unsupported_value',
    expect.stringMatching(says),
  ];
  const remedy = /does not say who speaks.*Serve an archive of conversation_transcriber/;
  const plain = await faked(() => SPOKEN, [], { ...MODEL, handler: 'speech_to_text' });
  const ask = plain.openai.audio.transcriptions;
  expect(await failureOf(ask.create({ ...DIARIZED, file: recording() }))).toEqual(refused('response_format', remedy));
  expect(plain.client.asked).toEqual([]);
  // Only the answer of a handler of the app's own shows it: also in a stream, before its first event.
  const own = await faked(() => ({ text: 'Hello' }), ['Hel'], { ...MODEL, handler: 'Own' });
  for (const stream of [false, true])
    expect(
      await failureOf(own.openai.audio.transcriptions.create({ ...DIARIZED, file: recording(), stream } as never)),
    ).toEqual(refused('response_format', remedy));
  const named = { known_speaker_names: ['Ada'], known_speaker_references: ['data:audio/wav;base64,AAAA'] };
  const { openai } = await faked(() => SPOKEN, [], MODEL);
  for (const [field, value] of Object.entries(named))
    expect(
      await failureOf(openai.audio.transcriptions.create({ ...DIARIZED, file: recording(), [field]: value })),
    ).toEqual(refused(`${field}[]`, /known_speaker_\w+\[\]: people are not recognized.*speaker_embedder/));
});

test('what the model refuses is an error of the field', async () => {
  const { openai } = await faked(
    () => {
      throw new TabServeError('invalid-input', 'params.language: there is no such language.');
    },
    [],
    MODEL,
  );
  const asked = { ...DIARIZED, file: recording(), language: 'xx' };
  expect(await failureOf(openai.audio.transcriptions.create(asked))).toMatchObject([
    400,
    'invalid_request_error',
    'language',
    'invalid_value',
    expect.any(String),
  ]);
});
