import { el } from '../page/dom.js';

/** As many lines as are kept. */
const KEPT = 100;

export interface EventLog {
  readonly element: HTMLElement;
  /** `kind`: the event's name, as the SDK has it, or who did it. */
  add(kind: string, what: string): void;
}

/** What happened, and when, the latest first. */
export function eventLog(label: string): EventLog {
  const begun = performance.now();
  const element = el('ol', { class: 'log', role: 'log', 'aria-label': label, tabindex: '0' });
  return {
    element,
    add(kind, what) {
      const seconds = ((performance.now() - begun) / 1000).toFixed(1);
      element.prepend(
        el(
          'li',
          { 'data-kind': kind },
          el('span', { class: 'log-time' }, `${seconds} s`),
          el('code', {}, kind),
          el('span', {}, what),
        ),
      );
      if (element.childElementCount > KEPT) element.lastElementChild?.remove();
    },
  };
}
