/** `/v1/responses`: OpenAI's API of responses. */
import { shorten } from '../../../contract/describe-value.js';
import { isPart, isTokensPart, partsOf, type Generated } from '../../../shared/generated-text.js';
import type { ServedVersion } from '../../served-version.js';
import { ServingError } from '../../serving-error.js';
import { partsWithin } from '../parts-within.js';
import { jsonResponse } from '../responses.js';
import { streamResponse } from '../result-response.js';
import { checkMethod, type Incoming, type RouteContext } from '../route.js';
import { openAiError } from './errors.js';
import { readGenerated } from './generated.js';
import { checkMakes, checkTakesMessages } from './models.js';
import type { Body } from './request.js';
import { idOf, ResponseOutput, type ResponseEvent } from './response-output.js';
import { readRequest, type ResponseRequest } from './response-request.js';
import { ResponseStore } from './response-store.js';
import type { HttpRequest, HttpResponse } from '../messages.js';

export async function responses(
  body: Body,
  served: ServedVersion,
  request: HttpRequest,
  context: RouteContext,
): Promise<HttpResponse> {
  checkMakes('text', served);
  checkTakesMessages(served);
  const asked = readRequest(body, served);
  try {
    return body['stream'] === true
      ? await streamed(asked, served, request, context)
      : await whole(asked, served, request, context);
  } catch (error) {
    throw asked.named(error);
  }
}

/** Answers requests about a response that was stored: `GET` and `DELETE /v1/responses/ID`. */
export function storedResponse(incoming: Incoming, id: string, { registry }: RouteContext): HttpResponse {
  checkMethod(incoming, 'GET', 'HEAD', 'DELETE');
  const stores = registry.all.flatMap(({ responses: store }) => (store ? [store] : []));
  const store = stores.find((one) => one.get(id));
  if (!store) {
    const message = `No response with the id ${shorten(id)} is stored here.`;
    throw new ServingError('invalid-input', 404, 'ResourceNotFoundException', message);
  }
  const { body } = store.get(id)!;
  if (incoming.request.method !== 'DELETE') return jsonResponse(body);
  store.delete(id);
  return jsonResponse({ id, object: 'response', deleted: true });
}

async function whole(
  asked: ResponseRequest,
  served: ServedVersion,
  request: HttpRequest,
  context: RouteContext,
): Promise<HttpResponse> {
  const options = { params: asked.params, signal: request.signal, timeout: context.timeout };
  return await served.run(async () => {
    const result = readGenerated(await context.predict(served, asked.input, options), served);
    const writer = new Writer(asked, served);
    writer.output.addTokens(result.tokens ?? []);
    for (const part of partsOf(result)) for (const _ of writer.output.add(part));
    return jsonResponse(writer.finish(result).response);
  });
}

async function streamed(
  asked: ResponseRequest,
  served: ServedVersion,
  request: HttpRequest,
  context: RouteContext,
): Promise<HttpResponse> {
  const limit = { milliseconds: context.timeout, clock: context.clock };
  const { params, input } = asked;
  return await streamResponse(
    served,
    async (client, signal) => events(partsWithin(client.stream(input, { params, signal }), limit), asked, served),
    request.signal,
    'text/event-stream; charset=utf-8',
  );
}

/** Writes one response. */
class Writer {
  readonly output = new ResponseOutput();
  readonly #head: object;

  constructor(
    readonly asked: ResponseRequest,
    readonly served: ServedVersion,
  ) {
    const created = Math.floor(Date.now() / 1000);
    this.#head = { id: idOf('resp'), object: 'response', created_at: created, model: served.options.name };
  }

  /** Returns the response before its end. */
  get begun(): object {
    return {
      ...this.#head,
      ...this.asked.echo,
      status: 'in_progress',
      incomplete_details: null,
      output: [],
      usage: null,
    };
  }

  /** Ends the output, and stores the response, unless the request forbids it. */
  finish(result: Generated): {
    readonly events: readonly ResponseEvent[];
    readonly response: { readonly status: string };
  } {
    const isCut = result.finishReason === 'length';
    const status = isCut ? ('incomplete' as const) : ('completed' as const);
    const events = [...this.output.end(status)];
    const response = {
      ...(this.#head as { readonly id: string }),
      ...this.asked.echo,
      status,
      incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
      output: this.output.items,
      usage: usageOf(result),
    };
    if (this.asked.isStored)
      (this.served.responses ??= new ResponseStore()).add({ body: response, input: this.asked.items });
    return { events, response };
  }
}

/** Yields server-sent events. An error after the first is an event. */
async function* events(
  parts: AsyncIterable<unknown>,
  asked: ResponseRequest,
  served: ServedVersion,
): AsyncGenerator<string> {
  const writer = new Writer(asked, served);
  let count = 0;
  const write = ({ type, ...fields }: ResponseEvent): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: count++, ...fields })}\n\n`;
  let hasParts = false;
  try {
    for await (const part of parts) {
      if (isTokensPart(part)) {
        writer.output.addTokens(part.tokens);
        continue;
      }
      const result = isPart(part) ? undefined : readGenerated(part, served);
      if (count === 0) {
        yield write({ type: 'response.created', response: writer.begun });
        yield write({ type: 'response.in_progress', response: writer.begun });
      }
      // A handler that sends no parts has them in its result.
      if (result && !hasParts) writer.output.addTokens(result.tokens ?? []);
      const added = isPart(part) ? [part] : hasParts ? [] : partsOf(result!);
      hasParts = true;
      for (const one of added) for (const event of writer.output.add(one)) yield write(event);
      if (!result) continue;
      const { events: last, response } = writer.finish(result);
      for (const event of last) yield write(event);
      yield write({ type: `response.${response.status}`, response });
    }
  } catch (error) {
    // Before the first event, the response has the error's status.
    if (count === 0) throw error;
    const { error: fields } = openAiError(asked.named(error)).body;
    yield write({ ...fields, type: 'error', error: fields });
  }
}

function usageOf({ usage: { promptTokens, cachedTokens = 0, completionTokens }, reasoning }: Generated): object {
  return {
    input_tokens: promptTokens,
    input_tokens_details: { cached_tokens: cachedTokens },
    output_tokens: completionTokens,
    // How many tokens reasoning took is not counted.
    ...(reasoning === undefined && { output_tokens_details: { reasoning_tokens: 0 } }),
    total_tokens: promptTokens + completionTokens,
  };
}
