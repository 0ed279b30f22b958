/** What OpenAI's API tells of who speaks: `response_format: 'diarized_json'`. */
import type { SpokenTurn } from '../../../contract/spoken-text.js';
import type { ServedVersion } from '../../served-version.js';
import { IS_BUILT_IN } from '../built-in.js';
import { wrongField, type Body, type FieldError } from './request.js';

/** What one person says, until another one speaks. In a stream, it is an event. */
interface SpeakerSegment {
  readonly type: 'transcript.text.segment';
  readonly id: string;
  readonly start: number;
  readonly end: number;
  readonly speaker: string;
  readonly text: string;
}

const KNOWN_SPEAKERS: ReadonlySet<string> = new Set(['known_speaker_names', 'known_speaker_references']);

/** @throws `invalid-input` for fields that name the people who speak */
export function refuseKnownSpeakers(body: Body): void {
  const name = Object.keys(body).find((field) => KNOWN_SPEAKERS.has(field.replace(/\[\]$/, '')));
  if (name === undefined) return;
  throw wrongField(
    name,
    'people are not recognized, and are called A, B and so on. Compare their voices with speaker_embedder.',
    'unsupported_value',
  );
}

/** @throws `invalid-input` if the model does not say who speaks for certain */
export function checkHasSpeakers(served: ServedVersion): void {
  const { handler } = served.options.description;
  if (IS_BUILT_IN.test(handler) && handler !== 'conversation_transcriber') throw withoutSpeakers(served);
}

/**
 * Returns what each person says. People are called A, B and so on, in the order in which they first speak.
 * @throws `invalid-input` if the handler has not said who speaks
 */
export function speakerSegmentsOf(
  turns: readonly SpokenTurn[] | undefined,
  served: ServedVersion,
): readonly SpeakerSegment[] {
  if (!turns) throw withoutSpeakers(served);
  const people = [...new Set(turns.map(({ speaker }) => speaker))];
  return turns.map(({ start, end, speaker, text }, at) => ({
    type: 'transcript.text.segment',
    id: `seg_${at}`,
    start,
    end,
    speaker: letters(people.indexOf(speaker)),
    text,
  }));
}

/** Returns A to Z, then AA, AB and so on. */
function letters(index: number): string {
  const last = String.fromCharCode(65 + (index % 26));
  return index < 26 ? last : letters(Math.floor(index / 26) - 1) + last;
}

function withoutSpeakers({ options: { name, description } }: ServedVersion): FieldError {
  return wrongField(
    'response_format',
    `model "${name}" does not say who speaks: its handler is ${description.handler}. Serve an archive of conversation_transcriber, which joins this model with one of speakers.`,
    'unsupported_value',
  );
}
