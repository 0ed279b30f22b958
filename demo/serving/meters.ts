import { el } from '../page/dom.js';

const NAMES = {
  answered: 'Answered',
  latency: '95 % within',
  queue: 'Waiting in the queue',
  refused: 'Refused, queue full',
  late: 'Timed out',
  workers: 'Workers',
  backend: 'Backend',
  frames: 'Page frame rate',
} as const;
type Meter = keyof typeof NAMES;

export interface Meters {
  readonly element: HTMLElement;
  set(values: Partial<Readonly<Record<Meter, string>>>): void;
}

/** Shows the current values as numbers. */
export function meters(): Meters {
  const names = Object.keys(NAMES) as Meter[];
  const values = Object.fromEntries(names.map((name) => [name, el('dd', {}, '–')])) as Record<Meter, HTMLElement>;
  return {
    element: el(
      'dl',
      { class: 'counters meters' },
      ...names.map((name) => el('div', { 'data-counter': name }, el('dt', {}, NAMES[name]), values[name])),
    ),
    set(next) {
      for (const [name, text] of Object.entries(next)) values[name as Meter].textContent = text;
    },
  };
}
