/** What OpenAI's API makes of the parts of a recording. */
import type { SpokenDetails, SpokenPart, SpokenSegment } from '../../../contract/spoken-text.js';

/** Seconds without a word, after which another segment begins. */
const PAUSE = 0.5;

/** Returns the segments of a recording. @param areWords whether its parts are: without segments, a pause begins one */
export function segmentsOf({ parts = [], segments }: SpokenDetails, areWords: boolean): readonly SpokenSegment[] {
  if (segments || !areWords) return segments ?? parts;
  const joined: SpokenPart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (!last || part.start - last.end > PAUSE) joined.push(part);
    else
      joined[joined.length - 1] = { text: `${last.text.trim()} ${part.text.trim()}`, start: last.start, end: part.end };
  }
  return joined;
}

/** Returns subtitles: SubRip's, or WebVTT's. */
export function cuesOf(segments: readonly SpokenPart[], format: 'srt' | 'vtt'): string {
  const mark = format === 'srt' ? ',' : '.';
  const cues = segments.map(({ text, start, end }, at) => {
    const number = format === 'srt' ? `${at + 1}\n` : '';
    return `${number}${clock(start, mark)} --> ${clock(end, mark)}\n${text.trim()}\n\n`;
  });
  return (format === 'vtt' ? 'WEBVTT\n\n' : '') + cues.join('');
}

/** Returns seconds as hours, minutes, seconds and thousandths. */
function clock(seconds: number, mark: string): string {
  const [whole, rest] = [Math.floor(seconds), Math.round((seconds % 1) * 1000)];
  const total = rest === 1000 ? whole + 1 : whole;
  const two = (value: number): string => String(value).padStart(2, '0');
  const parts = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60].map(two).join(':');
  return `${parts}${mark}${String(rest % 1000).padStart(3, '0')}`;
}

/** Returns a language's English name in lower case, as OpenAI's API has it. */
export function languageNameOf(code = 'en'): string {
  return new Intl.DisplayNames(['en'], { type: 'language' }).of(code)?.toLowerCase() ?? code;
}
