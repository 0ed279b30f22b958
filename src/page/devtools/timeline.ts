import { el } from './dom.js';
import { PARTS, type Entry } from './history.js';

const LABELS: Readonly<Record<Exclude<Entry['kind'], 'request'>, string>> = {
  backendchange: 'Backend',
  ended: 'You',
  error: 'Error',
  fail: 'Failed',
  recover: 'Healed',
  warn: 'Warning',
};

export interface Timeline {
  readonly element: HTMLElement;
  /** @param entries the latest first */
  show(entries: readonly Entry[]): void;
}

/** Shows what happened to a client, the latest first: requests as bars of their stages, on one scale, and events. */
export function timeline(label: string): Timeline {
  const shown = new Map<number, HTMLElement>();
  const list = el('ol', { class: 'timeline' });
  const legend = el('p', { class: 'legend' }, ...PARTS.map((part) => el('span', { 'data-part': part }, part)));
  const region = el('div', { class: 'scroll tall', role: 'region', 'aria-label': label, tabindex: '0' }, list);
  const element = el('div', {}, legend, region);
  return {
    element,
    show(entries) {
      const numbers = new Set(entries.map(({ number }) => number));
      for (const [number, row] of shown)
        if (!numbers.has(number)) {
          row.remove();
          shown.delete(number);
        }
      for (const entry of entries.toReversed()) {
        if (shown.has(entry.number)) continue;
        const row = rowOf(entry);
        shown.set(entry.number, row);
        list.prepend(row);
      }
      // The bars' unit: a script may set it under a strict policy, where markup may not.
      const longest = Math.max(0, ...entries.map((entry) => (entry.kind === 'request' ? entry.total : 0)));
      list.style.setProperty('--longest', String(longest || 1));
    },
  };
}

function rowOf(entry: Entry): HTMLElement {
  const time = el('time', {}, entry.at.toLocaleTimeString('en-GB'));
  if (entry.kind !== 'request')
    return el('li', { 'data-kind': entry.kind }, time, el('b', {}, LABELS[entry.kind]), el('span', {}, entry.text));
  const bar = el('span', { class: 'bar', 'aria-hidden': 'true' });
  for (const part of PARTS) {
    const piece = el('span', { 'data-part': part });
    piece.style.setProperty('--took', String(entry.times[part]));
    bar.append(piece);
  }
  return el('li', { 'data-kind': 'request' }, time, bar, el('span', {}, entry.text));
}
