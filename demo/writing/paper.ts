import { el } from '../page/dom.js';

export interface Paper {
  readonly element: HTMLElement;
  /** Begins a new text with what the visitor wrote. */
  begin(prompt: string): void;
  /** Adds what the model wrote. */
  add(part: string): void;
  /** Marks the place where the worker was killed. */
  mark(says: string): void;
  clear(): void;
}

/** Creates the text: the visitor's beginning, and what the model wrote after it. */
export function paper(): Paper {
  const element = el('div', { class: 'paper', role: 'region', 'aria-label': 'The text', tabindex: '0' });
  return {
    element,
    begin(prompt) {
      element.replaceChildren(el('span', { class: 'paper-prompt' }, prompt));
    },
    add(part) {
      const isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < 40;
      element.append(part);
      if (isAtEnd) element.scrollTop = element.scrollHeight;
    },
    mark: (says) => element.append(el('span', { class: 'paper-mark', role: 'note', title: says }, '✂')),
    clear: () => element.replaceChildren(),
  };
}
