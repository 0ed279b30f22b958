import { expect, test } from '@playwright/test';
import { TabServeError } from '../../../../src/contract/errors.ts';
import { tabserve, type LanguageModelClient } from '../../../../src/page/ai-sdk/language-model.ts';
import type { StreamPart } from '../../../../src/page/ai-sdk/specification.ts';

const prompt = [{ role: 'user', content: 'Hello' }];
const result = { text: 'Hi.', finishReason: 'stop', usage: { promptTokens: 5, cachedTokens: 2, completionTokens: 3 } };
const usage = {
  inputTokens: { total: 5, noCache: 3, cacheRead: 2, cacheWrite: undefined },
  outputTokens: { total: 3, text: 3, reasoning: undefined },
};
const finishReason = { unified: 'stop', raw: 'stop' };

/** A client whose stream has these items. An error is thrown in its place. */
function clientOf(items: readonly unknown[]): LanguageModelClient & { readonly left: () => boolean } {
  let isLeft = false;
  return {
    left: () => isLeft,
    predict: () => Promise.resolve(items.at(-1)),
    async *stream() {
      try {
        for (const item of items) {
          if (item instanceof Error) throw item;
          yield await Promise.resolve(item);
        }
      } finally {
        isLeft = true;
      }
    },
  };
}

async function partsOf(stream: ReadableStream<StreamPart>): Promise<StreamPart[]> {
  const reader = stream.getReader();
  const parts: StreamPart[] = [];
  for (let read = await reader.read(); !read.done; read = await reader.read()) parts.push(read.value);
  return parts;
}

test('a stream of parts, and of a handler that sends none', async () => {
  // A config may tell the tokens of parts (topLogprobs), which the SDK does not ask for.
  const token = { tokens: [{ text: 'H', bytes: [72], logprob: -1, top: [] }] };
  for (const items of [['H', 'i.', result], [token, 'H', { tokens: [] }, 'i.', result], [result]]) {
    const { stream } = await tabserve(clientOf(items)).doStream({ prompt });
    const deltas = items.length > 1 ? ['H', 'i.'] : ['Hi.'];
    expect(await partsOf(stream)).toEqual([
      { type: 'stream-start', warnings: [] },
      { type: 'text-start', id: '0' },
      ...deltas.map((delta) => ({ type: 'text-delta', id: '0', delta })),
      { type: 'text-end', id: '0' },
      { type: 'finish', finishReason, usage },
    ]);
  }
});

test('reasoning, text and calls are blocks in their order, whole and streamed', async () => {
  const toolCall = { id: 'abc000000', name: 'clock', arguments: { zone: 'CET' } };
  const called = {
    ...result,
    text: '',
    reasoning: 'Hm. So.',
    toolCalls: [toolCall],
    finishReason: 'tool_calls',
  };
  const call = { type: 'tool-call', toolCallId: 'abc000000', toolName: 'clock', input: '{"zone":"CET"}' };
  const end = {
    finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
    usage: { ...usage, outputTokens: { total: 3, text: undefined, reasoning: undefined } },
  };
  const whole = await tabserve(clientOf([called])).doGenerate({ prompt });
  expect(whole).toEqual({ content: [{ type: 'reasoning', text: 'Hm. So.' }, call], ...end, warnings: [] });
  const items = [{ reasoning: 'Hm.' }, { reasoning: ' So.' }, 'I look.', { toolCall }, 'Wait.', called];
  const { stream } = await tabserve(clientOf(items)).doStream({ prompt });
  expect((await partsOf(stream)).slice(1)).toEqual([
    { type: 'reasoning-start', id: '0' },
    { type: 'reasoning-delta', id: '0', delta: 'Hm.' },
    { type: 'reasoning-delta', id: '0', delta: ' So.' },
    { type: 'reasoning-end', id: '0' },
    { type: 'text-start', id: '1' },
    { type: 'text-delta', id: '1', delta: 'I look.' },
    { type: 'text-end', id: '1' },
    call,
    { type: 'text-start', id: '2' },
    { type: 'text-delta', id: '2', delta: 'Wait.' },
    { type: 'text-end', id: '2' },
    { type: 'finish', ...end },
  ]);
});

test('an error before the first part fails the call; a later one is a part', async () => {
  const lost = new TabServeError('worker-lost', 'Lost.');
  await expect(tabserve(clientOf([lost])).doStream({ prompt })).rejects.toBe(lost);
  const { stream } = await tabserve(clientOf(['H', lost])).doStream({ prompt });
  expect((await partsOf(stream)).at(-1)).toEqual({ type: 'error', error: lost });
});

test('an abort is the error of its signal; a reader that leaves ends the request', async () => {
  const aborting = new AbortController();
  const aborted = new TabServeError('aborted', 'The call was aborted.');
  const { stream } = await tabserve(clientOf(['H', aborted])).doStream({ prompt, abortSignal: aborting.signal });
  aborting.abort();
  await expect(partsOf(stream)).rejects.toBe(aborting.signal.reason);
  const client = clientOf(['H', 'i.', result]);
  const left = await tabserve(client).doStream({ prompt });
  await left.stream.cancel();
  expect(client.left()).toBe(true);
});

test('a client of another handler is refused', async () => {
  const refused = /does not generate text: it answers with "cat"/;
  await expect(tabserve(clientOf(['cat'])).doGenerate({ prompt })).rejects.toThrow(refused);
  const found = { label: 'cat' };
  await expect(tabserve(clientOf([found])).doStream({ prompt })).rejects.toThrow(/does not generate text/);
});
