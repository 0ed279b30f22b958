// The answers are compared with Python's in `test/browser/coverage.spec.ts`.
import { expect, test } from '@playwright/test';
import type { Context } from '../../../../../src/contract/handler.ts';
import { PredictionError } from '../../../../../src/contract/errors.ts';
import { createTestHandler } from '../../../../../src/worker.ts';
import { ConversationTranscriber } from '../../../../../src/worker/tasks/speakers/conversation-transcriber.ts';

const TURNS = [
  { speaker: 'SPEAKER_00', start: 0, end: 1, score: 0.9 },
  { speaker: 'SPEAKER_01', start: 1, end: 2, score: 0.9 },
];
const SPOKEN = {
  text: ' Hello. Hi.',
  language: 'en',
  parts: [
    { text: ' Hello.', start: 0.1, end: 0.9 },
    { text: ' Hi.', start: 1.2, end: 1.8 },
  ],
};
const recording = { samples: new Float32Array(8000), sampleRate: 4000 };

/** Returns the handler with these answers of its nodes, and what they were asked for. */
async function transcriber(spoken: unknown, turns: unknown = TURNS) {
  const asked: Record<string, unknown> = {};
  const node = (name: string, answer: unknown) => ({
    answers: (rows: readonly unknown[], { params }: { readonly params: readonly unknown[] }) => {
      asked[name] = params[0];
      return rows.map(() => answer);
    },
  });
  const nodes = { recognizer: node('recognizer', spoken), diarizer: node('diarizer', turns) };
  return { handler: await createTestHandler(ConversationTranscriber, { nodes }), asked };
}

test('each node gets its params, and the answer is that of the recognizer with the turns', async () => {
  const { handler, asked } = await transcriber(SPOKEN);
  const params = { language: 'en', prompt: 'Ada', numSpeakers: 2 };
  expect(await handler.handle([recording], { params })).toEqual([
    {
      ...SPOKEN,
      duration: 2,
      turns: [
        { speaker: 'SPEAKER_00', start: 0.1, end: 0.9, text: 'Hello.' },
        { speaker: 'SPEAKER_01', start: 1.2, end: 1.8, text: 'Hi.' },
      ],
    },
  ]);
  expect(asked).toEqual({
    recognizer: { language: 'en', prompt: 'Ada', timestamps: 'word' },
    diarizer: { numSpeakers: 2 },
  });
  await handler.handle([recording], { params: { timestamps: 'segment', maxSpeakers: 3 } });
  expect(asked).toEqual({ recognizer: { timestamps: 'segment' }, diarizer: { maxSpeakers: 3 } });
});

test('a recording without words has no turns; where nobody is heard, the words have no speaker', async () => {
  const silent = await transcriber({ text: '' }, []);
  expect(await silent.handler.handle([recording])).toEqual([{ text: '', duration: 2, parts: [], turns: [] }]);
  const unheard = await transcriber(SPOKEN, []);
  expect(await unheard.handler.handle([recording])).toMatchObject([
    { turns: [{ speaker: undefined, start: 0.1, end: 1.8, text: 'Hello. Hi.' }] },
  ]);
});

test('a row that fails, fails alone: what is no sound, and a node that writes nothing', async () => {
  const { handler } = await transcriber(SPOKEN);
  const [bad, good] = await handler.handle(['talk.wav' as never, recording]);
  expect(bad).toMatchObject({ code: 'invalid-input', message: expect.stringMatching(/^Expected audio/) });
  expect(good).toMatchObject({ text: SPOKEN.text });
  const { handler: other } = await transcriber([{ label: 'dog', score: 1 }]);
  expect((await other.handle([recording]))[0]).toMatchObject({
    code: 'model-config',
    message: expect.stringMatching(/"recognizer" transcribes no recordings: expected a model of speech_to_text/),
  });
  const failed = await transcriber(SPOKEN, new PredictionError('invalid-input', 'It is too short.'));
  expect((await failed.handler.handle([recording]))[0]).toMatchObject({ node: 'diarizer', code: 'invalid-input' });
});

test('a stream says how many of the two nodes have heard the recording', async () => {
  const told = (progress: readonly (readonly [number, number])[], answer: unknown) => ({
    answers: (_rows: readonly unknown[], { heartbeat }: { readonly heartbeat: Context['heartbeat'] }) => {
      heartbeat();
      for (const [done, total] of progress) heartbeat({ done, total });
      return [answer];
    },
  });
  const diarizer = told(
    [
      [1, 4],
      [4, 4],
    ],
    TURNS,
  );
  const nodes = { recognizer: told([[1, 2]], SPOKEN), diarizer };
  const handler = await createTestHandler(ConversationTranscriber, { nodes });
  const parts = await handler.stream(recording);
  expect(parts.slice(0, -1)).toEqual([0.25, 1, 1.5].map((done) => ({ done, total: 2 })));
});

test('a piece of a sequence is refused', async () => {
  const { handler } = await transcriber(SPOKEN);
  await expect(handler.openSequence().predict(recording)).rejects.toMatchObject({
    code: 'invalid-input',
    message: expect.stringMatching(/piece of a sequence/),
  });
});
