/** `/v1/chat/completions` and `/v1/completions`: OpenAI's API of text generation. */
import { serverSentEvent } from './server-sent-event.js';
import type { Params } from '../../../contract/handler.js';
import { isPart, isTokensPart, partsOf, type Generated, type RankedText } from '../../../shared/generated-text.js';
import type { ServedVersion } from '../../served-version.js';
import { partsWithin } from '../parts-within.js';
import { jsonResponse } from '../responses.js';
import { streamResponse } from '../result-response.js';
import type { RouteContext } from '../route.js';
import { openAiError } from './errors.js';
import { inFieldNames } from './field-names.js';
import { CHAT, COMPLETION, type Form } from './forms.js';
import { readGenerated } from './generated.js';
import { CHAT_FIELDS, chatParamsOf } from './chat-params.js';
import { conversationOf, textsOf } from './inputs.js';
import { checkMakes, checkTakesMessages, mediaOf } from './models.js';
import { paramsOf, type ReadParams } from './params.js';
import { wrongField, wrongValue, type Body } from './request.js';
import { streamOptionsOf, type StreamOptions } from './stream-options.js';
import type { HttpRequest, HttpResponse } from '../messages.js';

const COMMON = ['model', 'n', 'stream', 'stream_options', 'logprobs'];

export async function chatCompletions(
  body: Body,
  served: ServedVersion,
  request: HttpRequest,
  context: RouteContext,
): Promise<HttpResponse> {
  checkMakes('text', served);
  checkTakesMessages(served);
  const read = paramsOf(body, [...COMMON, ...CHAT_FIELDS, 'messages', 'tools', 'top_logprobs']);
  const own = chatParamsOf(body);
  const params = { ...read.params, ...own.params };
  const fields = new Map([...read.fields, ...own.fields]);
  const asked = { params, fields, body, served, request, context };
  return await complete(CHAT, [conversationOf(body, mediaOf(served))], asked);
}

export async function completions(
  body: Body,
  served: ServedVersion,
  request: HttpRequest,
  context: RouteContext,
): Promise<HttpResponse> {
  checkMakes('text', served);
  const read = paramsOf(body, [...COMMON, 'prompt']);
  return await complete(COMPLETION, textsOf(body['prompt'], 'prompt'), { ...read, body, served, request, context });
}

/** The maximum number of answers to a prompt: OpenAI's. */
const MAX_COUNT = 128;

/** Returns how many answers a prompt gets. */
function countOf({ n = 1 }: Body): number {
  if (Number.isInteger(n) && (n as number) >= 1 && (n as number) <= MAX_COUNT) return n as number;
  throw wrongValue('n', `a whole number from 1 to ${MAX_COUNT}`, n);
}

interface Asked extends ReadParams {
  readonly body: Body;
  readonly served: ServedVersion;
  readonly request: HttpRequest;
  readonly context: RouteContext;
}

interface Ready extends Asked, StreamOptions {
  readonly count: number;
}

async function complete(form: Form, prompts: readonly unknown[], asked: Asked): Promise<HttpResponse> {
  const { body } = asked;
  const topLogprobs = form.topOf(body);
  const params = { ...asked.params, ...(topLogprobs !== undefined && { topLogprobs }) };
  const fields = new Map([...asked.fields, ['topLogprobs', 'logprobs'] as const]);
  const ready = { ...asked, params, fields, count: countOf(body), ...streamOptionsOf(body) };
  try {
    return ready.stream ? await streamed(form, prompts, ready) : await whole(form, prompts, ready);
  } catch (error) {
    throw inFieldNames(error, fields);
  }
}

async function streamed(form: Form, prompts: readonly unknown[], asked: Ready): Promise<HttpResponse> {
  const { params, served, request, context, withUsage, count } = asked;
  if (prompts.length > 1) throw wrongField('prompt', `a stream has one prompt, got ${prompts.length}.`);
  if (count > 1) throw wrongField('n', 'a stream has one answer.', 'unsupported_value');
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

async function whole(form: Form, prompts: readonly unknown[], asked: Ready): Promise<HttpResponse> {
  const { params, served, request, context, count } = asked;
  const { jobQueueSize } = served.options.description.config;
  const all = prompts.length * count;
  if (all > jobQueueSize)
    throw wrongField(
      count > 1 ? 'n' : 'prompt',
      `the model's queue holds ${jobQueueSize} (jobQueueSize), got ${all} answers to write.`,
    );
  const optionsOf = (at: number): { params: Params; signal: AbortSignal; timeout: number } => ({
    // The answers to one prompt are other ones.
    params: typeof params['seed'] === 'number' ? { ...params, seed: params['seed'] + at } : params,
    signal: request.signal,
    timeout: context.timeout,
  });
  const head = headOf(form, served);
  return await served.run(async () => {
    const results = await Promise.all(
      Array.from({ length: all }, async (_, at) =>
        readGenerated(await context.predict(served, prompts[Math.floor(at / count)], optionsOf(at % count)), served),
      ),
    );
    const choices = results.map((result, index) => ({
      index,
      ...form.choice(result),
      logprobs: result.tokens ? form.logprobs(result.tokens, []) : null,
      finish_reason: result.finishReason,
    }));
    return jsonResponse({ ...head, object: form.object, choices, usage: usageOf(results, count) });
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
  const chunk = (choice: object, { logprobs = null, finishReason = null }: ChunkEnd = {}): string =>
    serverSentEvent({
      ...head,
      choices: [{ index: 0, ...choice, logprobs, finish_reason: finishReason }],
      ...(withUsage && { usage: null }),
    });
  let hasBegun = false;
  let hasParts = false;
  let calls = 0;
  let next: readonly RankedText[] = [];
  const told: RankedText[] = [];
  const logprobs = (tokens = next): object | null => {
    const found = tokens.length > 0 ? form.logprobs(tokens, told) : null;
    told.push(...tokens);
    next = [];
    return found;
  };
  try {
    for await (const part of parts) {
      if (isTokensPart(part)) {
        next = part.tokens;
        continue;
      }
      const result = isPart(part) ? undefined : readGenerated(part, served);
      if (!hasBegun && form.begin) yield chunk(form.begin);
      // A handler that sends no parts has them in its result.
      const added = isPart(part) ? [part] : hasParts ? [] : partsOf(result!);
      hasBegun = true;
      hasParts = true;
      for (const one of added) {
        yield chunk(form.part(one, calls), { logprobs: logprobs() });
        if (typeof one !== 'string' && 'toolCall' in one) calls += 1;
      }
      if (!result) continue;
      // The tokens that made no part: the last mark, or all of a handler that sends no parts.
      const rest = result.tokens?.slice(told.length);
      yield chunk(form.part('', 0), { logprobs: logprobs(rest), finishReason: result.finishReason });
      if (withUsage) yield serverSentEvent({ ...head, choices: [], usage: usageOf([result]) });
    }
    yield 'data: [DONE]\n\n';
  } catch (error) {
    // Before the first event, the response has the error's status.
    if (!hasBegun) throw error;
    yield serverSentEvent(openAiError(error).body);
  }
}

interface ChunkEnd {
  readonly logprobs?: object | null;
  readonly finishReason?: string | null;
}

/** @param count how many answers each prompt has */
function usageOf(results: readonly Generated[], count = 1): object {
  const sum = (count: (usage: Generated['usage']) => number): number =>
    results.reduce((total, { usage }) => total + count(usage), 0);
  const prompt = sum(({ promptTokens }) => promptTokens) / count;
  const completion = sum(({ completionTokens }) => completionTokens);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: Math.min(
        prompt,
        sum(({ cachedTokens = 0 }) => cachedTokens),
      ),
    },
  };
}
