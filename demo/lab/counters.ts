import { el } from '../page/dom.js';

const NAMES = {
  backend: 'Backend',
  shown: 'Frames shown',
  answered: 'Frames answered',
  failed: 'Requests failed',
  recovered: 'Recoveries',
  last: 'Last frame',
} as const;
type Counted = 'shown' | 'answered' | 'failed' | 'recovered';

export interface Counters {
  readonly element: HTMLElement;
  count(what: Counted): void;
  set(what: Exclude<keyof typeof NAMES, Counted>, text: string): void;
}

/** Shows the counters of a video. */
export function counters(): Counters {
  const counts: Record<Counted, number> = { shown: 0, answered: 0, failed: 0, recovered: 0 };
  const names = Object.keys(NAMES) as (keyof typeof NAMES)[];
  const values = Object.fromEntries(names.map((name) => [name, el('dd', {}, name in counts ? '0' : '–')])) as Record<
    keyof typeof NAMES,
    HTMLElement
  >;
  return {
    element: el(
      'dl',
      { class: 'counters' },
      ...names.map((name) => el('div', { 'data-counter': name }, el('dt', {}, NAMES[name]), values[name])),
    ),
    count(what) {
      counts[what] += 1;
      values[what].textContent = counts[what].toLocaleString('en');
    },
    set: (what, text) => void (values[what].textContent = text),
  };
}
