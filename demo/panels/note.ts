import { el } from '../page/dom.js';
import { described } from '../page/errors.js';

export interface Note {
  /** Says what else can be done: nothing is wrong. */
  hint(): void;
  /** An answer came: what was wrong with an input is mended, what was said of the camera stands. */
  answered(): void;
  /** Something waits for the model. */
  waits(what: string): void;
  /** An input was wrong; `file`: its name, where it has one. */
  refused(error: unknown, file?: string): void;
  /** Something other than the input failed. */
  failed(error: unknown): void;
  /** Another demo has another hint. */
  set(hint: string): void;
}

/** The line under the input, and what a screen reader says of it. */
export function noteLine(element: HTMLElement, announce: (text: string) => void): Note {
  let usual = '';
  const say = (state: 'hint' | 'waits' | 'refused' | 'failed', ...content: (Node | string)[]): void => {
    element.dataset['state'] = state;
    element.replaceChildren(...content);
  };
  const hint = (): void => {
    if (element.dataset['state'] !== 'hint' || element.textContent !== usual) say('hint', usual);
  };
  const tell = (state: 'refused' | 'failed', error: unknown, file = ''): void => {
    const { code, message } = described(error);
    say(state, el('code', {}, code), ` ${file && `${file}: `}${message}`);
    announce(`${file} ${message}`.trim());
  };
  return {
    hint,
    answered: () => element.dataset['state'] !== 'failed' && hint(),
    waits: (what) => say('waits', `${what} waits for the model.`),
    refused: (error, file) => tell('refused', error, file),
    failed: (error) => tell('failed', error),
    set(text) {
      usual = text;
      hint();
    },
  };
}
