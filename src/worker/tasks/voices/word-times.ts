import type { SpokenPart } from '../../../contract/spoken-text.js';
import type { VoiceToken } from './voice.js';

/**
 * Returns the words of a part with their times: what stands between two spaces. A blank belongs to the character before
 * it.
 * @param durations how long each token lasts, in any unit
 * @param seconds of the part's sound
 * @param from the part's start
 * @returns undefined if there is not one duration for each token
 */
export function wordTimes(
  tokens: readonly VoiceToken[],
  durations: ArrayLike<number>,
  seconds: number,
  from: number,
): readonly SpokenPart[] | undefined {
  const all = Array.from(durations).reduce((sum, one) => sum + one, 0);
  if (durations.length !== tokens.length || !(all > 0)) return undefined;
  const words: { text: string; start: number; end: number }[] = [];
  let [time, isInside] = [0, false];
  for (const [index, { character }] of tokens.entries()) {
    const start = from + (time / all) * seconds;
    time += durations[index]!;
    const end = from + (time / all) * seconds;
    if (character === undefined ? !isInside || index === tokens.length - 1 : /\s/.test(character)) isInside = false;
    else if (!isInside) {
      words.push({ text: character!, start, end });
      isInside = true;
    } else {
      const word = words.at(-1)!;
      word.text += character ?? '';
      word.end = end;
    }
  }
  return words;
}
