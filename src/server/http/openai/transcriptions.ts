/** `/v1/audio/transcriptions`: OpenAI's API that transcribes recordings. */
import { serverSentEvent } from './server-sent-event.js';
import { PredictionError } from '../../../contract/errors.js';
import type { Params } from '../../../contract/handler.js';
import { isHearingProgress } from '../../../shared/is-hearing-progress.js';
import { isPlainObject } from '../../../shared/is-plain-object.js';
import type { SpokenDetails, SpokenPart, SpokenSegment, SpokenTurn } from '../../../contract/spoken-text.js';
import type { ServedVersion } from '../../served-version.js';
import type { HttpRequest, HttpResponse } from '../messages.js';
import { partsWithin } from '../parts-within.js';
import { jsonResponse, response } from '../responses.js';
import { streamResponse } from '../result-response.js';
import type { RouteContext } from '../route.js';
import { openAiError } from './errors.js';
import { inFieldNames } from './field-names.js';
import { checkMakes, makesOther } from './models.js';
import { checkKnown, wrongField, wrongValue, type Body } from './request.js';
import { checkHasSpeakers, refuseKnownSpeakers, speakerSegmentsOf } from './speakers.js';
import { cuesOf, languageNameOf, segmentsOf } from './subtitles.js';

const FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json'] as const;
type Format = (typeof FORMATS)[number];

const GRANULARITIES = 'timestamp_granularities[]';
const FIELDS = [
  'model',
  'file',
  'language',
  'prompt',
  'response_format',
  'temperature',
  GRANULARITIES,
  'stream',
  'chunking_strategy',
  'user',
];

/** What a handler of speech answers. */
interface Transcribed extends SpokenDetails {
  readonly text: string;
  /** Of a handler that says who speaks. */
  readonly turns?: readonly SpokenTurn[];
}

interface Asked {
  readonly file: Blob;
  readonly format: Format;
  readonly granularities: readonly string[];
  readonly params: Params;
  /** The fields that the params come from. */
  readonly fields: ReadonlyMap<string, string>;
  readonly served: ServedVersion;
  readonly request: HttpRequest;
  readonly context: RouteContext;
}

/** Answers with the text of a recording, whole or streamed. */
export async function transcriptions(
  body: Body,
  served: ServedVersion,
  request: HttpRequest,
  context: RouteContext,
): Promise<HttpResponse> {
  checkMakes('transcript', served);
  refuseKnownSpeakers(body);
  checkKnown(body, FIELDS);
  const { file, response_format: format = 'json', stream = 'false' } = body;
  if (!(file instanceof Blob)) throw wrongValue('file', 'a file of sound', file);
  if (!FORMATS.includes(format as Format)) throw wrongValue('response_format', FORMATS.join(', '), format);
  if (format === 'diarized_json') checkHasSpeakers(served);
  if (stream !== 'true' && stream !== 'false') throw wrongValue('stream', 'true or false', stream);
  const granularities = granularitiesOf(body, format as Format);
  const read = paramsOf(body, format as Format, granularities, served);
  const asked = { file, format: format as Format, granularities, ...read, served, request, context };
  try {
    if (stream === 'false') return await whole(asked);
    if (format !== 'json' && format !== 'text' && format !== 'diarized_json')
      throw wrongField('stream', `a stream has no times: response_format is ${String(format)}.`, 'unsupported_value');
    return await streamed(asked);
  } catch (error) {
    throw inFieldNames(error, asked.fields);
  }
}

/** Returns which times are asked for. */
function granularitiesOf(body: Body, format: Format): readonly string[] {
  const given = [body[GRANULARITIES] ?? 'segment'].flat();
  if (!given.every((one) => one === 'word' || one === 'segment'))
    throw wrongValue(GRANULARITIES, 'word or segment', body[GRANULARITIES]);
  if (body[GRANULARITIES] !== undefined && format !== 'verbose_json')
    throw wrongField(GRANULARITIES, 'they need the response_format verbose_json.', 'unsupported_value');
  return given as string[];
}

/** Returns the handler's params. @throws `invalid-input` for what a handler without a language model cannot do */
function paramsOf(
  { language, prompt, temperature: given = '0' }: Body,
  format: Format,
  granularities: readonly string[],
  { options: { description } }: ServedVersion,
): Pick<Asked, 'params' | 'fields'> {
  const temperature = Number(given);
  if (!(temperature >= 0 && temperature <= 1)) throw wrongValue('temperature', 'a number from 0 to 1', given);
  // Whoever says who speaks always has times.
  const hasTimes = format !== 'json' && format !== 'text' && format !== 'diarized_json';
  const isCtc = recognizerOf(description) === 'speech_recognizer';
  const asked: readonly (readonly [name: string, value: unknown, field: string])[] = [
    ['language', language, 'language'],
    ['prompt', prompt, 'prompt'],
    ['doSample', temperature > 0 || undefined, 'temperature'],
    ['temperature', temperature > 0 ? temperature : undefined, 'temperature'],
  ];
  const set = asked.filter(([, value]) => value !== undefined);
  if (isCtc && set.length > 0)
    throw wrongField(set[0]![2], 'the model writes what it hears, and nothing changes it.', 'unsupported_value');
  const timestamps = isCtc || granularities.includes('word') ? 'word' : 'segment';
  return {
    params: Object.fromEntries([...set, ...(hasTimes ? [['timestamps', timestamps] as const] : [])]),
    fields: new Map([
      ...asked.map(([name, , field]) => [name, field] as const),
      ['timestamps', granularities.includes('word') ? GRANULARITIES : 'response_format'],
    ]),
  };
}

/** Returns the handler that writes the text: that of a node, in a model that also says who speaks. */
function recognizerOf({ handler, nodes }: ServedVersion['options']['description']): string {
  return (handler === 'conversation_transcriber' && nodes?.['recognizer']?.handler) || handler;
}

async function whole({ file, format, granularities, params, served, request, context }: Asked): Promise<HttpResponse> {
  return await served.run(async () => {
    const { signal } = request;
    const given = await context.predict(served, file, { params, signal, timeout: context.timeout });
    const result = transcribed(given, served);
    const { text, duration } = result;
    const usage = duration !== undefined && { usage: { type: 'duration', seconds: Math.ceil(duration) } };
    if (format === 'json') return jsonResponse({ text, ...usage });
    if (format === 'text') return response(`${text.trim()}\n`, 'text/plain; charset=utf-8');
    if (format === 'diarized_json') {
      const segments = speakerSegmentsOf(result.turns, served);
      return jsonResponse({ task: 'transcribe', duration: duration ?? lastEnd(segments), text, segments, ...usage });
    }
    const segments = segmentsOf(result, params['timestamps'] === 'word');
    if (format !== 'verbose_json') return response(cuesOf(segments, format), TYPES[format]);
    const temperature = (params['temperature'] ?? 0) as number;
    return jsonResponse({
      task: 'transcribe',
      language: languageNameOf(result.language),
      duration: duration ?? lastEnd(segments),
      text,
      ...(granularities.includes('word') && { words: (result.parts ?? []).map(wordOf) }),
      ...(granularities.includes('segment') && {
        segments: segments.map((one, id) => segmentOf(one, id, temperature)),
      }),
      ...usage,
    });
  });
}

function lastEnd(segments: readonly { readonly end: number }[]): number {
  return segments.at(-1)?.end ?? 0;
}

const TYPES = { srt: 'application/x-subrip; charset=utf-8', vtt: 'text/vtt; charset=utf-8' } as const;

/** Returns a segment with all that clients require, 0 for what the handler does not tell. @param asked the temperature that was asked for */
function segmentOf(segment: SpokenSegment, id: number, asked: number): object {
  const { text, start, end, temperature = asked, avgLogprob = 0, compressionRatio = 0, noSpeechProb = 0 } = segment;
  const quality = { avg_logprob: avgLogprob, compression_ratio: compressionRatio, no_speech_prob: noSpeechProb };
  return { id, seek: 0, start, end, text, tokens: [], temperature, ...quality };
}

function wordOf({ text, start, end }: SpokenPart): object {
  return { word: text.trim(), start, end };
}

async function streamed({ file, format, params, served, request, context }: Asked): Promise<HttpResponse> {
  const limit = { milliseconds: context.timeout, clock: context.clock };
  return await streamResponse(
    served,
    async (client, signal) => events(partsWithin(client.stream(file, { params, signal }), limit), format, served),
    request.signal,
    'text/event-stream; charset=utf-8',
  );
}

/**
 * Yields server-sent events, as OpenAI's clients read them: the text in parts or, if it is asked who speaks, what each
 * person says. An error after the first is an event.
 */
async function* events(parts: AsyncIterable<unknown>, format: Format, served: ServedVersion): AsyncGenerator<string> {
  let [hasBegun, hasParts] = [false, false];
  try {
    for await (const part of parts) {
      if (isHearingProgress(part)) continue;
      const result = typeof part === 'string' ? undefined : transcribed(part, served);
      for (const one of format === 'diarized_json'
        ? segmentEvents(result, served)
        : textEvents(part, result, hasParts)) {
        yield serverSentEvent(one);
        hasBegun = true;
      }
      hasParts = true;
    }
  } catch (error) {
    // Before the first event, the response has the error's status.
    if (!hasBegun) throw error;
    yield serverSentEvent(openAiError(error).body);
  }
}

/** Returns the event of a part of the text; of the whole text, if no part came before: a handler may send none. */
function textEvents(part: unknown, result: Transcribed | undefined, hasParts: boolean): readonly object[] {
  if (!result) return [{ type: 'transcript.text.delta', delta: part }];
  const { text } = result;
  return [
    ...(hasParts ? [] : [{ type: 'transcript.text.delta', delta: text }]),
    { type: 'transcript.text.done', text },
  ];
}

/** Returns the events of what each person says: they are known at the end. */
function segmentEvents(result: Transcribed | undefined, served: ServedVersion): readonly object[] {
  if (!result) return [];
  return [...speakerSegmentsOf(result.turns, served), { type: 'transcript.text.done', text: result.text }];
}

/** @throws the row's error; `invalid-input` if the handler transcribes no recordings */
function transcribed(result: unknown, served: ServedVersion): Transcribed {
  if (result instanceof PredictionError) throw result;
  if (isPlainObject(result) && typeof result['text'] === 'string') return result as unknown as Transcribed;
  throw makesOther('transcript', served);
}
