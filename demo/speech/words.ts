/** The words under the waveform. */
import type { LiveText } from '../../src/index.js';
import { button, el } from '../page/dom.js';
import type { Word } from './hearing.js';

export interface WordsView {
  readonly element: HTMLElement;
  /** Says something instead of words. */
  says(text: string): void;
  /** Adds a part of a text that is being written. */
  part(text: string): void;
  show(words: readonly Word[]): void;
  /** Adds what a live answer has made final, and shows what may still change. */
  live(text: LiveText): void;
  /** Marks the word that is heard now. */
  mark(at: number | undefined): void;
}

/** The colors of speakers: variables of the style sheet. */
export const SPEAKERS = ['--part-1', '--part-3', '--part-2', '--part-4'] as const;

/** After it, a time is written. */
const SENTENCE_END = /\p{L}{2,}[.!?]$/u;

/** Returns a time as in 1:05. */
function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

/** @param play plays the recording from a time, in seconds */
export function wordsView(play: (from: number) => void): WordsView {
  const list = el('ol', { class: 'turns', 'aria-label': 'Words' });
  const unsure = el('span', { class: 'unsure' });
  const hint = el('p', { class: 'words-hint' });
  // As wide as it likes, and as high as the page lets it be.
  const element = el(
    'div',
    { class: 'words', tabindex: '0', role: 'region', 'aria-label': 'What is said' },
    hint,
    list,
  );
  let shown: { readonly word: Word; readonly element: HTMLElement }[] = [];
  let turn: { readonly speaker: string | undefined; readonly element: HTMLElement } | undefined;
  let marked: HTMLElement | undefined;

  const clear = (): void => {
    list.replaceChildren();
    unsure.textContent = '';
    hint.textContent = '';
    shown = [];
    turn = undefined;
    marked = undefined;
  };
  const turnOf = (speaker: string | undefined): HTMLElement => {
    if (turn?.speaker === speaker && turn) return turn.element;
    const own = el('li', {});
    if (speaker !== undefined) {
      const number = Number(/\d+$/.exec(speaker)?.[0] ?? 0);
      own.style.setProperty('--speaker', `var(${SPEAKERS[number % SPEAKERS.length]!})`);
      own.append(el('span', { class: 'speaker' }, `Speaker ${number + 1}`));
    }
    list.append(own);
    turn = { speaker, element: own };
    return own;
  };
  const add = (words: readonly Word[]): void => {
    for (const word of words) {
      const text = word.text.trim();
      if (text === '') continue;
      const before = turn && shown.at(-1)?.word;
      const isFirst = before === undefined || before.speaker !== word.speaker;
      const isTimed = word.end > 0 && (isFirst || SENTENCE_END.test(before.text));
      if (isTimed) turnOf(word.speaker).append(' ', el('span', { class: 'word-time' }, clock(word.start)));
      const space = isTimed ? ' ' : word.text.slice(0, word.text.indexOf(text));
      const own = word.end > 0 ? button(text, () => play(word.start)) : el('span', {}, text);
      if (word.end > 0) own.title = `${word.start.toFixed(1)} to ${word.end.toFixed(1)} s`;
      own.classList.add('word');
      turnOf(word.speaker).append(space, own);
      shown.push({ word, element: own });
    }
  };
  /** Keeps the end in sight while words come. */
  const toEnd = (): void => void (element.scrollTop = element.scrollHeight);

  return {
    element,
    says(text) {
      clear();
      hint.textContent = text;
    },
    part(text) {
      hint.textContent = '';
      turnOf(undefined).append(text);
      toEnd();
    },
    show(words) {
      clear();
      add(words);
      if (shown.length === 0) hint.textContent = 'No word was heard.';
      element.scrollTop = 0;
    },
    live({ final, interim }) {
      if (final.parts.length + interim.parts.length > 0) hint.textContent = '';
      unsure.remove();
      add(final.parts);
      unsure.textContent = interim.text;
      turnOf(undefined).append(unsure);
      toEnd();
    },
    mark(at) {
      const heard =
        at === undefined ? undefined : shown.findLast(({ word }) => word.start <= at && at < word.end + 0.3);
      if (heard?.element === marked) return;
      marked?.removeAttribute('aria-current');
      marked = heard?.element;
      marked?.setAttribute('aria-current', 'true');
    },
  };
}
