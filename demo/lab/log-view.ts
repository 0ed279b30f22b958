import type { CandidateName } from '../../src/index.js';
import { copies } from '../page/copy.js';
import { el } from '../page/dom.js';

export interface LogView {
  readonly element: HTMLElement;
  show(logs: ReadonlyMap<CandidateName, string>): void;
  clear(): void;
}

/** Shows the log of each candidate's client, folded, with a button that copies it. */
export function logView(): LogView {
  const text = el('code');
  const copy = el('button', { type: 'button' }, 'Copy');
  copies(copy, () => text.textContent);
  const element = el(
    'details',
    { class: 'fold', hidden: '' },
    el('summary', {}, 'The log of each backend: diagnose()'),
    copy,
    el('pre', { tabindex: '0', 'aria-label': 'Diagnosis' }, text),
  );
  return {
    element,
    show(logs) {
      text.textContent = [...logs].map(([candidate, diagnosis]) => `── ${candidate}\n${diagnosis}`).join('\n\n');
      element.hidden = logs.size === 0;
    },
    clear() {
      element.hidden = true;
      text.textContent = '';
    },
  };
}
