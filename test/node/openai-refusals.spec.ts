// What models of one sense, or without tools, are asked over OpenAI's API and cannot do: each is an error that names the
// field and says what to do.
import { expect, test } from '@playwright/test';
import { readFileSync } from 'node:fs';
import OpenAI from 'openai-node20';
import type { RunningServer } from '../../src/tools/cli/serve.ts';

let running: RunningServer;
let openai: OpenAI;

test.describe.configure({ mode: 'default' });
test.beforeAll(async () => {
  const { serve } = (await import(
    String(new URL('../../dist/tools/cli/serve.js', import.meta.url))
  )) as typeof import('../../src/tools/cli/serve.ts');
  const folders = ['generation/qwen3', 'pictures/smolvlm', 'sounds/voxtral'];
  const models = ['public/models/writer', ...folders.map((folder) => `test/models/${folder}`)];
  running = await serve(models, { port: '0' }, () => {});
  openai = new OpenAI({ apiKey: 'none', baseURL: `${running.url}/v1`, maxRetries: 0 });
});
test.afterAll(() => running.close());

const url = `data:image/png;base64,${readFileSync('test/models/pictures/wide.png').toString('base64')}`;
const text = { type: 'text', text: 'What is it?' };
const image = { type: 'image_url', image_url: { url } };
const sound = { type: 'input_audio', input_audio: { data: 'AAEC', format: 'wav' } };
const video = { type: 'video_url', video_url: { url: 'data:video/mp4;base64,AAEC' } };
const film = { type: 'image_url', image_url: { url: 'data:video/mp4;base64,AAEC' } };
const f = (parameters?: object): object => ({ name: 'f', ...(parameters && { parameters }) });
const tools = (called: object): readonly object[] => [{ type: 'function', function: called }];
const object = { type: 'object', properties: {} };

/** A model, the parts of a message and other fields; what is wrong, and words of the message. */
type Case = readonly [model: string, content: readonly object[], more: object, param: string | null, words: string];

const PART = 'messages[0].content[0]';
const CASES: readonly Case[] = [
  ['writer', [image, text], {}, PART, 'this model reads texts alone, got "image_url". A model of image_text_to_text'],
  ['writer', [sound, text], {}, PART, 'this model reads texts alone, got "input_audio". A model of audio_text_to_text'],
  ['writer', [video, text], {}, PART, 'Pass some of its frames as pictures'],
  [
    'smolvlm',
    [sound],
    {},
    PART,
    'or { type: \'image_url\', image_url: { url } }, got "input_audio". A model of audio_',
  ],
  ['smolvlm', [video], {}, PART, 'Pass some of its frames as pictures'],
  ['smolvlm', [film], {}, null, 'not an image that can be decoded: an unknown format, 3 bytes, declared as video/mp4'],
  [
    'voxtral',
    [image],
    {},
    PART,
    'or { type: \'input_audio\', input_audio: { data, format } }, got "image_url". A model',
  ],
  ['writer', [text], { tools: tools(f()), tool_choice: 'required' }, 'tools', 'the parameters of "f": expected a JSON'],
  ['writer', [text], { tools: tools({}) }, 'tools[0].function', '{ name, description, parameters }'],
  ['writer', [text], { tools: [{ type: 'custom' }] }, 'tools[0].type', 'only the type "function"'],
  ['writer', [text], { tool_choice: 'required' }, 'tool_choice', 'needs tools'],
  ['qwen3', [text], { tools: tools(f(object)) }, 'tools', 'the chat template of this model takes none'],
];

test('what a model does not take is refused, with what to do', async () => {
  for (const [model, content, more, param, words] of CASES) {
    const asked = { model, messages: [{ role: 'user', content }], max_tokens: 2, ...more };
    for (const stream of [false, true]) {
      const error: unknown = await openai.chat.completions
        .create({ ...asked, stream } as never)
        .catch((cause: unknown) => cause);
      expect
        .soft(error, `${model} ${JSON.stringify([content, more]).slice(0, 80)}`)
        .toMatchObject({ status: 400, param, message: expect.stringContaining(words) });
    }
  }
});

test('ten photos beyond the context are told with their tokens', async () => {
  const many = Array.from({ length: 10 });
  const refused = { status: 400, code: 'context_length_exceeded' };
  const words = /The 10 pictures have \d+ tokens, and the model's context has 512.* Send fewer or smaller ones\./;
  const chat = openai.chat.completions.create({
    model: 'smolvlm',
    messages: [{ role: 'user', content: many.map(() => image) as never }],
  });
  await expect(chat).rejects.toMatchObject({ ...refused, message: expect.stringMatching(words) });
  const content = many.map(() => ({ type: 'input_image' as const, image_url: url, detail: 'auto' as const }));
  const response = openai.responses.create({ model: 'smolvlm', input: [{ role: 'user', content }] });
  await expect(response).rejects.toMatchObject({ ...refused, message: expect.stringMatching(words) });
});

test('arguments that are cut off stay text: length of chats, incomplete of responses', async () => {
  const long = { type: 'object', properties: { a: { type: 'string', minLength: 400 } }, required: ['a'] };
  const begun = /^<tool_call>\n\{"name": "f"/;
  const { choices } = await openai.chat.completions.create({
    model: 'writer',
    messages: [{ role: 'user', content: 'How many?' }],
    tools: tools(f(long)) as never,
    tool_choice: 'required',
    max_tokens: 30,
  });
  expect(choices[0]).toMatchObject({ finish_reason: 'length', message: { content: expect.stringMatching(begun) } });
  expect(choices[0]!.message).not.toHaveProperty('tool_calls');
  const response = await openai.responses.create({
    model: 'writer',
    input: 'How many?',
    tools: [{ type: 'function', name: 'f', parameters: long, strict: true }],
    tool_choice: 'required',
    max_output_tokens: 30,
  });
  expect(response).toMatchObject({
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
    output_text: expect.stringMatching(begun),
    output: [{ type: 'message', status: 'incomplete' }],
  });
});
