// `/v1/audio/speech` over a client whose answers the test makes, asked by OpenAI's own client.
import { expect, test } from '@playwright/test';
import { PredictionError } from '../../../../src/contract/errors.ts';
import { openWav } from '../../../../src/worker/audio/wav.ts';
import { failureOf, faked } from '../../support/openai-client.ts';

const SPEAKER = {
  modelName: 'voice',
  handler: 'text_to_speech',
  takes: 'text',
  makes: 'speech',
  resultForms: [],
} as const;
const sound = (values: readonly number[], from = 0) => ({
  audio: { samples: Float32Array.from(values), sampleRate: 1000 },
  parts: [{ text: 'a', start: from / 1000, end: (from + values.length) / 1000 }],
});
const WHOLE = sound([0, 0.5, -0.5, 1]);
const PARTS = [sound([0, 0.5]), sound([-0.5, 1], 2), WHOLE];
const PCM = [0, 0x4000, -0x4000, 0x7fff];
const asked = { model: 'voice', input: 'Hello.', voice: 'alloy' } as const;
const pcmOf = (bytes: ArrayBuffer, from = 0) => [...new Int16Array(bytes.slice(from))];

test('a WAV file; the client’s usual voice is the model’s first one', async () => {
  const { client, openai } = await faked(() => WHOLE, [], SPEAKER);
  const file = await openai.audio.speech.create({ ...asked, response_format: 'wav', speed: 1 });
  expect(file.headers.get('content-type')).toBe('audio/wav');
  const wav = await openWav(await file.blob());
  expect([wav.sampleRate, wav.length]).toEqual([1000, 4]);
  expect(client.asked.at(-1)).toMatchObject({ input: 'Hello.', options: { params: {} } });
  expect(client.asked.at(-1)!.options.params).toEqual({});
});

test('raw samples, with their rate; voice and speed are the handler’s params', async () => {
  const { client, openai } = await faked(() => WHOLE, [], SPEAKER);
  const file = await openai.audio.speech.create({ ...asked, voice: 'ann', speed: 1.5, response_format: 'pcm' });
  expect(file.headers.get('content-type')).toBe('audio/pcm; rate=1000; channels=1');
  expect(pcmOf(await file.arrayBuffer())).toEqual(PCM);
  expect(client.asked.at(-1)!.options.params).toEqual({ voice: 'ann', speed: 1.5 });
  await openai.audio.speech.create({ ...asked, voice: { id: 'may' }, response_format: 'pcm' });
  expect(client.asked.at(-1)!.options.params).toEqual({ voice: 'may' });
});

test('a stream of sound: the parts once, after a header of unknown length', async () => {
  const { openai } = await faked(() => WHOLE, PARTS.slice(0, -1), SPEAKER);
  const file = await openai.audio.speech.create({ ...asked, response_format: 'wav', stream_format: 'audio' });
  const bytes = await file.arrayBuffer();
  expect(new DataView(bytes).getUint32(40, true)).toBeGreaterThan(0x7fff0000);
  expect(pcmOf(bytes, 44)).toEqual(PCM);
  expect((await openWav(new Blob([bytes]))).length).toBe(4);
});

test('a stream of events', async () => {
  const { openai } = await faked(() => WHOLE, PARTS.slice(0, -1), SPEAKER);
  const file = await openai.audio.speech.create({ ...asked, response_format: 'pcm', stream_format: 'sse' });
  expect(file.headers.get('content-type')).toMatch(/^text\/event-stream/);
  const events = (await file.text())
    .split('\n\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line.slice('data: '.length)));
  expect(events.map(({ type }) => type)).toEqual(['speech.audio.delta', 'speech.audio.delta', 'speech.audio.done']);
  const bytes = Buffer.concat(events.slice(0, 2).map(({ audio }) => Buffer.from(audio, 'base64')));
  expect(pcmOf(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer)).toEqual(PCM);
});

test('a handler that sends no parts is streamed whole', async () => {
  const { openai } = await faked(() => WHOLE, [], SPEAKER);
  const file = await openai.audio.speech.create({ ...asked, response_format: 'pcm', stream_format: 'audio' });
  expect(pcmOf(await file.arrayBuffer())).toEqual(PCM);
});

test('what is wrong with a request is an error that names its field', async () => {
  const { openai } = await faked(
    () => {
      throw new PredictionError('invalid-input', 'params.voice: there is no "bob". The model has ann.');
    },
    [],
    SPEAKER,
  );
  const ask = (fields: object): Promise<unknown> => failureOf(openai.audio.speech.create({ ...asked, ...fields }));
  for (const [fields, param, code, message] of [
    [{ response_format: 'mp3' }, 'response_format', 'unsupported_value', 'wav or pcm, not as mp3'],
    [{ input: 3 }, 'input', 'invalid_value', 'expected a text'],
    [{ instructions: 'Whisper.' }, 'instructions', 'unsupported_value', 'no handler takes them'],
    [{ stream_format: 'ogg' }, 'stream_format', 'invalid_value', 'audio or sse'],
    [{ speed: 'fast' }, 'speed', 'invalid_value', 'a number from 0.25 to 4'],
    [{ voice: 3 }, 'voice', 'invalid_value', "a voice's name"],
    [{ pitch: 3 }, 'pitch', 'unknown_parameter', 'not known'],
    [{ voice: 'bob' }, 'voice', 'invalid_value', 'there is no "bob"'],
  ] as const)
    expect(await ask(fields), JSON.stringify(fields)).toEqual([
      400,
      'invalid_request_error',
      param,
      code,
      expect.stringContaining(message),
    ]);
});

test('a model that speaks nothing is refused before it runs', async () => {
  const { client, openai } = await faked();
  expect(await failureOf(openai.audio.speech.create({ ...asked, model: 'writer' }))).toMatchObject({
    2: 'model',
    4: expect.stringContaining('speaks no text'),
  });
  expect(client.asked).toEqual([]);
});
