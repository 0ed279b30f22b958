import { el } from '../page/dom.js';

const NAMES = {
  answered: 'Answered',
  refused: 'Refused, queue full',
  late: 'Past their deadline',
  queue: 'Waiting in the queue',
  workers: 'Workers',
  backend: 'Runs on',
  memory: 'Engine’s memory',
  frames: 'This page draws',
} as const;
type Meter = keyof typeof NAMES;

export interface Meters {
  readonly element: HTMLElement;
  set(values: Partial<Readonly<Record<Meter, string>>>): void;
}

/** What is so at this moment, in numbers. */
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
