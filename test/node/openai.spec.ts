// `npx tabserve serve` of language models, spoken to by OpenAI's own client: the newest one that runs on Node 20. Expected
// texts are transformers': `test/models/generation/make.py`.
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { experimental_generateSpeech } from 'ai-node20';
import { createOpenAI } from 'ai-sdk-openai-node20';
import OpenAI from 'openai-node20';
import type { RunningServer } from '../../src/tools/cli/serve.ts';
import type { SpokenAudio, SpokenText, SpokenTurn } from '../../src/contract/spoken-text.ts';
import { openWav } from '../../src/worker/audio/wav.ts';
import { soundOf } from '../models/tasks/sound.ts';
import { GENERATION } from '../unit/worker/generation/models.ts';

const hello = { messages: [{ role: 'user' as const, content: 'Hello' }] };

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  const error = await promise.then(
    () => undefined,
    (cause: unknown) => cause as InstanceType<typeof OpenAI.APIError>,
  );
  return error && [error.status, error.type, error.param, error.code, error.message];
}

let running: RunningServer;
let openai: OpenAI;

test.describe.configure({ mode: 'default' });
test.beforeAll(async () => {
  const { serve } = (await import(
    String(new URL('../../dist/tools/cli/serve.js', import.meta.url))
  )) as typeof import('../../src/tools/cli/serve.ts');
  running = await serve(
    [
      'test/models/generation/llama',
      'test/models/generation/gpt2',
      'test/models/tasks/speak-vits',
      'test/models/tasks/write-whisper-words',
      'test/models/tasks/converse-whisper',
    ],
    { port: '0' },
    () => {},
  );
  openai = new OpenAI({ apiKey: 'none', baseURL: `${running.url}/v1`, maxRetries: 0 });
});
test.afterAll(() => running.close());

test('a chat answers as transformers does, whole and streamed, with its usage', async () => {
  const { prompts, chats } = GENERATION['llama']!;
  const chat = chats!.find(({ text }) => text !== undefined)!;
  const asked = { model: 'llama', messages: chat.messages as typeof hello.messages, max_tokens: 6 };
  const whole = await openai.chat.completions.create(asked);
  expect(whole).toMatchObject({ object: 'chat.completion', model: 'llama', choices: [{ index: 0 }] });
  expect(whole.usage).toMatchObject({ prompt_tokens: chat.input_ids!.length, completion_tokens: 6 });
  const text = whole.choices[0]!.message.content!;
  expect(text).not.toBe('');
  const stream = await openai.chat.completions.create({
    ...asked,
    stream: true,
    stream_options: { include_usage: true },
  });
  let joined = '';
  let last;
  for await (const chunk of stream) {
    joined += chunk.choices[0]?.delta.content ?? '';
    last = chunk;
  }
  expect(joined).toBe(text);
  expect(last!.usage).toMatchObject({ prompt_tokens: chat.input_ids!.length, completion_tokens: 6 });
  const { prompt, text: right, tokens } = prompts[0]!;
  const completion = await openai.completions.create({ model: 'llama', prompt, max_tokens: tokens.length });
  expect(completion.choices[0]!.text).toBe(right);
  const ids = [prompts[0]!, prompts[1]!].map(({ input_ids }) => [...input_ids]);
  const byTokens = await openai.completions.create({ model: 'llama', prompt: ids, max_tokens: tokens.length });
  expect(byTokens.choices.map((choice) => choice.text)).toEqual([right, prompts[1]!.text]);
  const foreign = openai.completions.create({ model: 'llama', prompt: [1, 100_257], max_tokens: 1 });
  expect(await failureOf(foreign)).toMatchObject({
    0: 400,
    4: expect.stringContaining('100257 is no token of this model'),
  });
  // The tokens are those of the text, and each is the most probable one.
  const { choices } = await openai.chat.completions.create({ ...asked, logprobs: true, top_logprobs: 2 });
  const written = choices[0]!.logprobs!.content!;
  expect(Buffer.from(written.flatMap(({ bytes }) => bytes!)).toString()).toBe(text);
  for (const { logprob, top_logprobs: top } of written)
    expect([top.length, top[0]!.logprob, top[0]!.logprob >= top[1]!.logprob]).toEqual([2, logprob, true]);
});

test('a recording is transcribed as by transformers, whole and streamed', async () => {
  const { rows } = JSON.parse(readFileSync('test/models/tasks/speech_to_text.json', 'utf8')) as {
    readonly rows: readonly {
      readonly repository: string;
      readonly requests: readonly { readonly input: { readonly sound: number }; readonly answer: SpokenText }[];
    }[];
  };
  const { input, answer } = rows.find(({ repository }) => repository === 'write-whisper-words')!.requests[0]!;
  const file = () => new File([floatWav(soundOf(input.sound))], 'talk.wav', { type: 'audio/wav' });
  const asked = { model: 'write-whisper-words', language: 'en' };
  const found = await openai.audio.transcriptions.create({
    ...asked,
    file: file(),
    response_format: 'verbose_json',
    timestamp_granularities: ['word', 'segment'],
  });
  expect(found.text).toBe(answer.text);
  expect(found.words).toEqual(answer.parts!.map(({ text, ...times }) => ({ word: text.trim(), ...times })));
  expect(found.segments!.map(({ text }) => text).join('')).toBe(answer.text);
  expect([found.language, found.duration]).toEqual(['english', input.sound / 16_000]);
  const whole = await openai.audio.transcriptions.create({ ...asked, file: file() });
  let joined = '';
  for await (const event of await openai.audio.transcriptions.create({ ...asked, file: file(), stream: true }))
    joined += event.type === 'transcript.text.delta' ? event.delta : '';
  expect(joined).toBe(whole.text);
  const mp3 = new File([new Uint8Array(100)], 'talk.mp3', { type: 'audio/mpeg' });
  expect(await failureOf(openai.audio.transcriptions.create({ ...asked, file: mp3 }))).toMatchObject({
    0: 501,
    4: expect.stringContaining('Convert the file: ffmpeg -i FILE sound.wav'),
  });
});

test('a conversation is transcribed as by Python, with who says what', async () => {
  const { rows } = JSON.parse(readFileSync('test/models/tasks/conversation_transcriber.json', 'utf8')) as {
    readonly rows: readonly {
      readonly requests: readonly {
        readonly input: { readonly sound: number };
        readonly params: { readonly language: string };
        readonly answer: { readonly text: string; readonly turns: readonly SpokenTurn[] };
      }[];
    }[];
  };
  const { input, params, answer } = rows[0]!.requests[0]!;
  const file = () => new File([floatWav(soundOf(input.sound))], 'talk.wav', { type: 'audio/wav' });
  const asked = { model: 'converse-whisper', response_format: 'diarized_json', ...params } as const;
  const segments = answer.turns.map(({ speaker, ...turn }, at) => {
    const name = speaker === answer.turns[0]!.speaker ? 'A' : 'B';
    return { type: 'transcript.text.segment', id: `seg_${at}`, speaker: name, ...turn };
  });
  const usage = { type: 'duration', seconds: input.sound / 16_000 };
  expect(await openai.audio.transcriptions.create({ ...asked, file: file() })).toEqual({
    task: 'transcribe',
    duration: input.sound / 16_000,
    text: answer.text,
    segments,
    usage,
  });
  const events: unknown[] = [];
  for await (const event of await openai.audio.transcriptions.create({ ...asked, file: file(), stream: true }))
    events.push(event);
  expect(events).toEqual([...segments, { type: 'transcript.text.done', text: answer.text }]);
  const alone = openai.audio.transcriptions.create({ ...asked, model: 'write-whisper-words', file: file() });
  expect(await failureOf(alone)).toMatchObject({ 0: 400, 2: 'response_format', 3: 'unsupported_value' });
});

test('a text is spoken as by transformers, as a file, as a stream, and by the AI SDK', async () => {
  const { rows } = JSON.parse(readFileSync('test/models/tasks/text_to_speech.json', 'utf8')) as {
    readonly rows: readonly {
      readonly repository: string;
      readonly requests: readonly { readonly input: string; readonly answer: SpokenAudio }[];
    }[];
  };
  const { input, answer } = rows.find(({ repository }) => repository === 'speak-vits')!.requests[1]!;
  const { samples, sampleRate } = answer.audio;
  // A step of 16 bits, and what float32 rounds.
  const right = Array.from(samples, (one) => expect.closeTo(one, 3));
  const heard = async (bytes: ArrayBuffer): Promise<readonly number[]> => {
    const wav = await openWav(new Blob([bytes]));
    expect(wav.sampleRate).toBe(sampleRate);
    const blocks: number[] = [];
    for await (const block of wav.blocks()) blocks.push(...block);
    return blocks;
  };
  const asked = { model: 'speak-vits', input, voice: 'alloy', response_format: 'wav' } as const;
  const file = await openai.audio.speech.create(asked);
  expect(await heard(await file.arrayBuffer())).toEqual(right);
  const stream = await openai.audio.speech.create({ ...asked, stream_format: 'audio' });
  const streamed = await stream.arrayBuffer();
  // The length was not known when the header was sent.
  expect(new DataView(streamed).getUint32(40, true)).toBeGreaterThan(streamed.byteLength);
  expect(await heard(streamed)).toEqual(right);
  const provider = createOpenAI({ baseURL: `${running.url}/v1`, apiKey: 'none' });
  const { audio } = await experimental_generateSpeech({
    model: provider.speech('speak-vits'),
    text: input,
    outputFormat: 'wav',
  });
  expect(await heard(Uint8Array.from(audio.uint8Array).buffer)).toEqual(right);
  expect(audio.mediaType).toMatch(/wav/);
  expect(await failureOf(openai.audio.speech.create({ ...asked, response_format: 'mp3' }))).toMatchObject({
    0: 400,
    2: 'response_format',
  });
  // TorchServe's own address: JSON, or a WAV file.
  const predicted = (query: string): Promise<Response> =>
    fetch(`${running.url}/predictions/speak-vits${query}`, { method: 'POST', body: input, headers: TEXT });
  const json = (await (await predicted('')).json()) as SpokenAudio;
  expect(json).toMatchObject({ audio: { sampleRate }, parts: answer.parts });
  expect(json.audio.samples).toEqual(Array.from(samples, (one) => expect.closeTo(one, 4)));
  const wav = await predicted(`?params=${encodeURIComponent('{"result":"wav"}')}`);
  expect(wav.headers.get('content-type')).toBe('audio/wav');
  expect(await heard(await wav.arrayBuffer())).toEqual(right);
});

const TEXT = { 'Content-Type': 'text/plain' };

/** Returns a WAV file of float32 samples at 16 kHz. */
function floatWav(samples: Float32Array): ArrayBuffer {
  const bytes = new ArrayBuffer(44 + samples.length * 4);
  const view = new DataView(bytes);
  const text = (at: number, value: string): void => {
    for (const [index, character] of [...value].entries()) view.setUint8(at + index, character.charCodeAt(0));
  };
  text(0, 'RIFF');
  view.setUint32(4, bytes.byteLength - 8, true);
  text(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  for (const [at, value] of [
    [20, 3],
    [22, 1],
    [32, 4],
    [34, 32],
  ] as const)
    view.setUint16(at, value, true);
  view.setUint32(24, 16_000, true);
  view.setUint32(28, 64_000, true);
  text(36, 'data');
  view.setUint32(40, samples.length * 4, true);
  new Float32Array(bytes, 44).set(samples);
  return bytes;
}

test('several models, each by its name; a model that is not there', async () => {
  const listed = await openai.models.list();
  expect(listed.data.map(({ id, object }) => [id, object])).toEqual([
    ['converse-whisper', 'model'],
    ['gpt2', 'model'],
    ['llama', 'model'],
    ['speak-vits', 'model'],
    ['write-whisper-words', 'model'],
  ]);
  expect(await openai.models.retrieve('gpt2')).toMatchObject({ id: 'gpt2', owned_by: 'tabserve' });
  for (const model of ['llama', 'gpt2']) {
    const { prompt, text, tokens } = GENERATION[model]!.prompts[1]!;
    const { choices } = await openai.completions.create({ model, prompt: [prompt], max_tokens: tokens.length });
    expect.soft(choices[0]!.text, model).toBe(text);
  }
  expect(await failureOf(openai.completions.create({ model: 'other', prompt: 'a' }))).toEqual([
    404,
    'invalid_request_error',
    null,
    'model_not_found',
    '404 Model not found: other',
  ]);
});

test('response_format: an object, and what fits a schema, whole and streamed', async () => {
  const schema = {
    type: 'object',
    properties: { colour: { enum: ['red', 'green'] }, count: { type: 'integer', minimum: 1, maximum: 9 } },
    required: ['colour', 'count'],
    additionalProperties: false,
  };
  const asked = {
    ...hello,
    model: 'llama',
    max_tokens: 200,
    response_format: { type: 'json_schema' as const, json_schema: { name: 'answer', strict: true, schema } },
  };
  const { choices } = await openai.chat.completions.create(asked);
  expect(choices[0]!.finish_reason).toBe('stop');
  const answer = JSON.parse(choices[0]!.message.content!) as { colour: string; count: number };
  expect(['red', 'green']).toContain(answer.colour);
  expect(answer.count).toBeGreaterThan(0);
  let joined = '';
  for await (const chunk of await openai.chat.completions.create({ ...asked, stream: true }))
    joined += chunk.choices[0]?.delta.content ?? '';
  expect(joined).toBe(choices[0]!.message.content);
  const object = await openai.chat.completions.create({
    ...hello,
    model: 'llama',
    response_format: { type: 'json_object' },
    max_tokens: 6,
  });
  expect(object.choices[0]!.message.content).toMatch(/^\{/);
  const refused = openai.chat.completions.create({
    ...asked,
    response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { contains: {} } } },
  });
  expect(await failureOf(refused)).toEqual([
    400,
    'invalid_request_error',
    'response_format',
    'invalid_value',
    expect.stringContaining('400 response_format.json_schema.schema.contains: this keyword is not supported'),
  ]);
});

test('what the model refuses is an error that says why', async () => {
  const [status, , , , message] = (await failureOf(
    openai.chat.completions.create({
      ...hello,
      model: 'llama',
      messages: [{ role: 'tool', content: '', tool_call_id: '1' }],
    }),
  )) as unknown[];
  expect([status, message]).toEqual([400, expect.stringMatching(/chat template of the model refuses/)]);
  const stream = openai.chat.completions.create({ ...hello, model: 'llama', temperature: -1, stream: true });
  expect(await failureOf(stream)).toEqual([
    400,
    'invalid_request_error',
    'temperature',
    'invalid_value',
    expect.stringMatching(/^400 temperature must .*-1/),
  ]);
  for (const [name, value] of Object.entries({
    max_tokens: 0,
    top_p: 2,
    stop: [''],
    eos_token_id: 1e6,
    bad_words_ids: 1,
  }))
    expect
      .soft(await failureOf(openai.completions.create({ model: 'gpt2', prompt: 'a', [name]: value })), name)
      .toMatchObject({ 0: 400, 2: name, 4: expect.stringContaining(name) });
  expect(await failureOf(openai.embeddings.create({ model: 'gpt2', input: 'a' }))).toMatchObject({
    0: 400,
    2: 'model',
    4: expect.stringContaining('its handler is text_generator'),
  });
});

test('a client that leaves the stream ends the request', async () => {
  const stream = await openai.chat.completions.create({ ...hello, model: 'llama', stream: true, max_tokens: 40 });
  for await (const _ of stream) break;
  stream.controller.abort();
  const { choices } = await openai.chat.completions.create({ ...hello, model: 'llama', max_tokens: 2 });
  expect(choices[0]!.finish_reason).toBe('length');
});
