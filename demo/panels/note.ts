import { errorView, inWords } from './words.js';

export interface Note {
  /** Shows the demo's hint. */
  hint(): void;
  /** Removes a message about an input, because an answer came. A message about the camera stays. */
  answered(): void;
  /** Says that an input waits for the model. */
  waits(what: string): void;
  /** Says what is wrong with an input; `file`: its name, if it has one. */
  refused(error: unknown, file?: string): void;
  /** Says what else failed. */
  failed(error: unknown): void;
  /** Sets the demo's hint. */
  set(hint: string): void;
}

/** Writes the line under the input, for screen readers too. */
export function noteLine(element: HTMLElement, announce: (text: string) => void): Note {
  let usual = '';
  const say = (state: 'hint' | 'waits' | 'refused' | 'failed', ...content: (Node | string)[]): void => {
    element.dataset['state'] = state;
    element.replaceChildren(...content);
  };
  const hint = (): void => {
    if (element.dataset['state'] !== 'hint' || element.textContent !== usual) say('hint', usual);
  };
  const report = (state: 'refused' | 'failed', error: unknown, file?: string): void => {
    say(state, ...errorView(error, file));
    announce(inWords(error, file).text);
  };
  return {
    hint,
    answered: () => element.dataset['state'] !== 'failed' && hint(),
    waits: (what) => say('waits', `${what} waits for the model.`),
    refused: (error, file) => report('refused', error, file),
    failed: (error) => report('failed', error),
    set(text) {
      usual = text;
      hint();
    },
  };
}
