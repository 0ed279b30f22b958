import { TabServeError } from '../contract/errors.js';
import type { SpokenText, SpokenTurn } from '../contract/spoken-text.js';

/** When somebody speaks. */
interface Speaking {
  readonly speaker: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Says who speaks each word: joins what was said with who speaks when. A word belongs to the turn that it shares the most
 * time with, or to the nearest one; words of one speaker that follow one another are one turn.
 * @param spoken the answer of `speech_to_text` or `speech_recognizer` with `timestamps: 'word'`
 * @param turns the answer of `speaker_diarizer` for the same recording
 * @throws `invalid-input` if the words have no times
 */
export function joinSpeakers({ text, parts }: SpokenText, turns: readonly Speaking[]): readonly SpokenTurn[] {
  if (!parts)
    throw new TabServeError('invalid-input', "The words have no times. Ask with params: { timestamps: 'word' }.");
  const joined: { speaker: string | undefined; start: number; end: number; from: number; to: number }[] = [];
  let at = 0;
  for (const { text: word, start, end } of parts) {
    // Where the word stands in the whole text, which has the spaces of its language.
    const own = word.trim();
    const from = Math.max(at, text.indexOf(own, at));
    const to = from + own.length;
    at = to;
    const speaker = speakerOf(start, end, turns);
    const last = joined.at(-1);
    if (last && last.speaker === speaker) Object.assign(last, { end, to });
    else joined.push({ speaker, start, end, from, to });
  }
  return joined.map(({ from, to, ...turn }) => ({ ...turn, text: text.slice(from, to) }));
}

function speakerOf(start: number, end: number, turns: readonly Speaking[]): string | undefined {
  let best: string | undefined;
  // Negative is the time between the word and a turn.
  let most = -Infinity;
  for (const turn of turns) {
    const shared = Math.min(end, turn.end) - Math.max(start, turn.start);
    if (shared > most) [best, most] = [turn.speaker, shared];
  }
  return best;
}
