import { el } from '../page/dom.js';

/** The log holds this many lines. */
const MAX_LINES = 100;

export interface EventLog {
  readonly element: HTMLElement;
  /** Adds a line. `kind`: the name of the SDK's event, or `you`. */
  add(kind: string, what: string): void;
}

/** Shows what happened and when, the latest first. */
export function eventLog(label: string): EventLog {
  const begun = performance.now();
  const element = el('div', { class: 'log', role: 'log', 'aria-label': label, tabindex: '0' });
  return {
    element,
    add(kind, what) {
      const seconds = ((performance.now() - begun) / 1000).toFixed(1);
      element.prepend(
        el(
          'p',
          { 'data-kind': kind },
          el('span', { class: 'log-time' }, `${seconds} s`),
          el('code', {}, kind),
          el('span', {}, what),
        ),
      );
      if (element.childElementCount > MAX_LINES) element.lastElementChild?.remove();
    },
  };
}
