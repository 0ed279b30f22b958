/** `/v1/chat/completions` and `/v1/completions`: OpenAI's API of text generation. */
import { isPlainObject } from '../../../shared/is-plain-object.js';
import type { ServedVersion } from '../../served-version.js';
import { partsWithin } from '../parts-within.js';
import { jsonResponse } from '../responses.js';
import { streamResponse } from '../result-response.js';
import type { RouteContext } from '../route.js';
import { openAiError } from './errors.js';
import { inFieldNames } from './field-names.js';
import { conversationOf, textsOf } from './inputs.js';
import { checkMakes, checkTakesMessages, makesOther } from './models.js';
import { paramsOf, type ReadParams } from './params.js';
import { wrongField, type Body } from './request.js';
import { streamOptionsOf, type StreamOptions } from './stream-options.js';
import type { HttpRequest, HttpResponse } from '../messages.js';

/** What a handler that generates text returns for a row. */
interface Generated {
  readonly text: string;
  readonly finishReason: 'stop' | 'length';
  readonly usage: { readonly promptTokens: number; readonly cachedTokens?: number; readonly completionTokens: number };
}

/** How an API writes an answer. */
interface Form {
  /** How ids begin. */
  readonly prefix: string;
  readonly object: string;
  readonly choice: (text: string) => object;
  readonly chunkObject: string;
  /** The first chunk's choice, before any text; undefined if there is none. */
  readonly begin?: object;
  readonly part: (text: string) => object;
}

const CHAT: Form = {
  prefix: 'chatcmpl',
  object: 'chat.completion',
  choice: (content) => ({ message: { role: 'assistant', content, refusal: null } }),
  chunkObject: 'chat.completion.chunk',
  begin: { delta: { role: 'assistant', content: '', refusal: null } },
  part: (content) => ({ delta: content === '' ? {} : { content } }),
};

const COMPLETION: Form = {
  prefix: 'cmpl',
  object: 'text_completion',
  choice: (text) => ({ text }),
  chunkObject: 'text_completion',
  part: (text) => ({ text }),
};

const COMMON = ['model', 'stream', 'stream_options'];

export async function chatCompletions(
  body: Body,
  served: ServedVersion,
  request: HttpRequest,
  context: RouteContext,
): Promise<HttpResponse> {
  checkMakes('text', served);
  checkTakesMessages(served);
  const read = { ...paramsOf(body, [...COMMON, 'messages', 'tools']), ...streamOptionsOf(body) };
  return await complete(CHAT, [conversationOf(body)], { ...read, served, request, context });
}

export async function completions(
  body: Body,
  served: ServedVersion,
  request: HttpRequest,
  context: RouteContext,
): Promise<HttpResponse> {
  checkMakes('text', served);
  const read = { ...paramsOf(body, [...COMMON, 'prompt']), ...streamOptionsOf(body) };
  return await complete(COMPLETION, textsOf(body['prompt'], 'prompt'), { ...read, served, request, context });
}

interface Asked extends ReadParams, StreamOptions {
  readonly served: ServedVersion;
  readonly request: HttpRequest;
  readonly context: RouteContext;
}

async function complete(form: Form, prompts: readonly unknown[], asked: Asked): Promise<HttpResponse> {
  try {
    return asked.stream ? await streamed(form, prompts, asked) : await whole(form, prompts, asked);
  } catch (error) {
    throw inFieldNames(error, asked.fields);
  }
}

async function streamed(form: Form, prompts: readonly unknown[], asked: Asked): Promise<HttpResponse> {
  const { params, served, request, context, withUsage } = asked;
  if (prompts.length > 1) throw wrongField('prompt', `a stream has one prompt, got ${prompts.length}.`);
  const head = { ...headOf(form, served), object: form.chunkObject };
  const limit = { milliseconds: context.timeout, clock: context.clock };
  return await streamResponse(
    served,
    async (client, signal) =>
      events(form, partsWithin(client.stream(prompts[0], { params, signal }), limit), { head, served, withUsage }),
    request.signal,
    'text/event-stream; charset=utf-8',
  );
}

async function whole(form: Form, prompts: readonly unknown[], asked: Asked): Promise<HttpResponse> {
  const { params, served, request, context } = asked;
  const options = { params, signal: request.signal, timeout: context.timeout };
  const { jobQueueSize } = served.options.description.config;
  if (prompts.length > jobQueueSize)
    throw wrongField('prompt', `the model's queue holds ${jobQueueSize} (jobQueueSize), got ${prompts.length}.`);
  const head = headOf(form, served);
  return await served.run(async () => {
    const results = await Promise.all(
      prompts.map(async (prompt) => generated(await context.predict(served, prompt, options), served)),
    );
    const choices = results.map(({ text, finishReason }, index) => ({
      index,
      ...form.choice(text),
      logprobs: null,
      finish_reason: finishReason,
    }));
    return jsonResponse({ ...head, object: form.object, choices, usage: usageOf(results) });
  });
}

function headOf({ prefix }: Form, { options: { name } }: ServedVersion): object {
  return {
    id: `${prefix}-${crypto.randomUUID()}`,
    created: Math.floor(Date.now() / 1000),
    model: name,
    system_fingerprint: null,
  };
}

/** Yields server-sent events, as OpenAI's clients read them. An error after the first is an event. */
async function* events(
  form: Form,
  parts: AsyncIterable<unknown>,
  { head, served, withUsage }: { readonly head: object; readonly served: ServedVersion; readonly withUsage: boolean },
): AsyncGenerator<string> {
  const chunk = (choice: object, finishReason: string | null = null): string =>
    event({
      ...head,
      choices: [{ index: 0, ...choice, logprobs: null, finish_reason: finishReason }],
      ...(withUsage && { usage: null }),
    });
  let hasBegun = false;
  let hasText = false;
  try {
    for await (const part of parts) {
      const result = typeof part === 'string' ? undefined : generated(part, served);
      if (!hasBegun && form.begin) yield chunk(form.begin);
      hasBegun = true;
      if (typeof part === 'string') yield chunk(form.part(part));
      hasText ||= typeof part === 'string';
      if (!result) continue;
      // This handler sends no parts.
      if (!hasText) yield chunk(form.part(result.text));
      yield chunk(form.part(''), result.finishReason);
      if (withUsage) yield event({ ...head, choices: [], usage: usageOf([result]) });
    }
    yield 'data: [DONE]\n\n';
  } catch (error) {
    // Before the first event, the response has the error's status.
    if (!hasBegun) throw error;
    yield event(openAiError(error).body);
  }
}

function event(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/** @throws `invalid-input` if the handler does not generate text */
function generated(result: unknown, served: ServedVersion): Generated {
  if (isPlainObject(result) && typeof result['text'] === 'string' && isPlainObject(result['usage']))
    return result as unknown as Generated;
  throw makesOther('text', served);
}

function usageOf(results: readonly Generated[]): object {
  const sum = (count: (usage: Generated['usage']) => number): number =>
    results.reduce((total, { usage }) => total + count(usage), 0);
  const prompt = sum(({ promptTokens }) => promptTokens);
  const completion = sum(({ completionTokens }) => completionTokens);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: sum(({ cachedTokens = 0 }) => cachedTokens) },
  };
}
