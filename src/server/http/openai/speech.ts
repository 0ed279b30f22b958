/** `/v1/audio/speech`: OpenAI's API of spoken texts. */
import { serverSentEvent } from './server-sent-event.js';
import { PredictionError } from '../../../contract/errors.js';
import type { Params } from '../../../contract/handler.js';
import { isPlainObject } from '../../../shared/is-plain-object.js';
import { toPcm, toWav, wavHeader, type Samples } from '../../../shared/wav.js';
import type { SpokenAudio } from '../../../contract/spoken-text.js';
import type { ServedVersion } from '../../served-version.js';
import { toBase64 } from '../base64.js';
import type { HttpRequest, HttpResponse } from '../messages.js';
import { partsWithin } from '../parts-within.js';
import { response } from '../responses.js';
import { streamResponse } from '../result-response.js';
import type { RouteContext } from '../route.js';
import { openAiError } from './errors.js';
import { inFieldNames } from './field-names.js';
import { checkMakes, makesOther } from './models.js';
import { checkKnown, wrongField, wrongValue, type Body } from './request.js';

const FIELDS = ['model', 'input', 'voice', 'instructions', 'response_format', 'speed', 'stream_format'];

/** What can be written without an encoder, and their types. */
const TYPES = { wav: 'audio/wav', pcm: 'audio/pcm' } as const;
type Format = keyof typeof TYPES;

/** OpenAI's own voices, one of which its clients always send: here, the model's first voice. */
const OWN_VOICES = new Set('alloy ash ballad cedar coral echo fable marin nova onyx sage shimmer verse'.split(' '));

const PARAM_FIELDS = new Map([
  ['voice', 'voice'],
  ['speed', 'speed'],
]);

/** Answers with a spoken text: a file, the same in parts as they are spoken, or events. */
export async function speech(
  body: Body,
  served: ServedVersion,
  request: HttpRequest,
  context: RouteContext,
): Promise<HttpResponse> {
  checkMakes('speech', served);
  checkKnown(body, FIELDS);
  const { input, instructions, response_format: given = 'wav', stream_format: stream } = body;
  if (typeof input !== 'string') throw wrongValue('input', 'a text', input);
  if (instructions !== undefined) throw wrongField('instructions', 'no handler takes them.', 'unsupported_value');
  if (typeof given !== 'string' || !Object.hasOwn(TYPES, given))
    throw wrongField(
      'response_format',
      `sound is sent as ${Object.keys(TYPES).join(' or ')}, not as ${String(given)}: there is no encoder here.`,
      'unsupported_value',
    );
  if (stream !== undefined && stream !== 'audio' && stream !== 'sse')
    throw wrongValue('stream_format', 'audio or sse', stream);
  const format = given as Format;
  const params = paramsOf(body);
  const { signal } = request;
  try {
    if (stream === undefined)
      return await served.run(async () => {
        const { audio } = spoken(
          await context.predict(served, input, { params, signal, timeout: context.timeout }),
          served,
        );
        return response(format === 'wav' ? toWav(audio) : toPcm(audio.samples), typeOf(format, audio.sampleRate));
      });
    const limit = { milliseconds: context.timeout, clock: context.clock };
    return await streamResponse(
      served,
      async (client, left) => {
        const parts = newSound(partsWithin(client.stream(input, { params, signal: left }), limit), served);
        return stream === 'sse' ? events(parts, format) : bytesOf(parts, format);
      },
      signal,
      stream === 'sse' ? 'text/event-stream; charset=utf-8' : TYPES[format],
    );
  } catch (error) {
    throw inFieldNames(error, PARAM_FIELDS);
  }
}

/** Returns the media type of a format. That of raw samples has their rate, which they do not say themselves. */
function typeOf(format: Format, sampleRate: number): string {
  return format === 'wav' ? TYPES.wav : `${TYPES.pcm}; rate=${sampleRate}; channels=1`;
}

function paramsOf({ voice, speed }: Body): Params {
  const name = isPlainObject(voice) ? voice['id'] : voice;
  if (name !== undefined && typeof name !== 'string') throw wrongValue('voice', "a voice's name", voice);
  if (speed !== undefined && typeof speed !== 'number') throw wrongValue('speed', 'a number from 0.25 to 4', speed);
  return {
    ...(name !== undefined && !OWN_VOICES.has(name) && { voice: name }),
    ...(speed !== undefined && speed !== 1 && { speed }),
  };
}

/** Yields the sound of each part; that of the result only if no part came before, as from a handler that sends none. */
async function* newSound(items: AsyncIterable<unknown>, served: ServedVersion): AsyncGenerator<Samples> {
  let count = 0;
  for await (const item of items) {
    const { audio, parts } = spoken(item, served);
    if (Math.round((parts[0]?.start ?? 0) * audio.sampleRate) < count) continue;
    count += audio.samples.length;
    yield audio;
  }
}

async function* bytesOf(parts: AsyncIterable<Samples>, format: Format): AsyncGenerator<Uint8Array> {
  let hasBegun = false;
  for await (const { samples, sampleRate } of parts) {
    if (!hasBegun && format === 'wav') yield wavHeader(sampleRate);
    hasBegun = true;
    yield toPcm(samples);
  }
}

/** Yields server-sent events, as OpenAI's clients read them. An error after the first is an event. */
async function* events(parts: AsyncIterable<Samples>, format: Format): AsyncGenerator<string> {
  let hasBegun = false;
  try {
    for await (const bytes of bytesOf(parts, format)) {
      yield serverSentEvent({ type: 'speech.audio.delta', audio: toBase64(bytes) });
      hasBegun = true;
    }
    yield serverSentEvent({ type: 'speech.audio.done', usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 } });
  } catch (error) {
    // Before the first event, the response has the error's status.
    if (!hasBegun) throw error;
    yield serverSentEvent(openAiError(error).body);
  }
}

/** @throws the row's error; `invalid-input` if the handler does not speak */
function spoken(result: unknown, served: ServedVersion): SpokenAudio {
  if (result instanceof PredictionError) throw result;
  const audio = isPlainObject(result) ? result['audio'] : undefined;
  if (isPlainObject(audio) && audio['samples'] instanceof Float32Array) return result as unknown as SpokenAudio;
  throw makesOther('speech', served);
}
