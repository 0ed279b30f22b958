import type { CandidateName } from '../../src/index.js';
import { el } from '../page/dom.js';
import { milliseconds } from '../page/format.js';
import { isWrong, namesOf, rank, type Measured, type Row } from './card.js';

export interface Ranks {
  readonly element: HTMLElement;
  /** Shows rows in their order. `notes`: what a model's file says about a candidate. */
  show(rows: readonly Row[], notes: Readonly<Partial<Record<CandidateName, string>>>): void;
}

const STATES = { waiting: 'not run yet', measuring: 'running…', canceled: 'not run' } as const;

/** Shows candidates as ranked bars: the longer, the faster. */
export function ranks(): Ranks {
  const list = el('ol', { class: 'ranks', 'aria-label': 'Backends, the fastest first' });
  const caption = el(
    'p',
    { class: 'ranks-caption' },
    'Longer is faster: a bar is the median, and the line at its end spans nine of ten runs. Errors are differences from WASM.',
  );
  const items = new Map<CandidateName, HTMLElement>();
  const itemOf = (candidate: CandidateName): HTMLElement => {
    const item = items.get(candidate) ?? el('li', { 'data-candidate': candidate });
    items.set(candidate, item);
    return item;
  };
  return {
    element: el('div', {}, list, caption),
    show(rows, notes) {
      const before = new Map([...items.values()].map((item) => [item, item.offsetTop]));
      const measured = rows.filter((row) => row.state === 'measured');
      // Speeds relative to the fastest run of all.
      const fastest = Math.min(...measured.map(({ low }) => low));
      const ordered = rank(rows).map(({ row, place }) => {
        const item = itemOf(row.candidate);
        item.dataset['state'] = isWrong(row) ? 'wrong' : row.state;
        item.toggleAttribute('data-best', place === 1 && row.state === 'measured');
        item.replaceChildren(...contentOf(row, place, fastest, notes[row.candidate]));
        return item;
      });
      list.replaceChildren(...ordered);
      caption.hidden = measured.length === 0;
      for (const item of ordered) move(item, before.get(item));
    },
  };
}

/** Lets an item glide from its old place, unless the visitor prefers less motion. */
function move(item: HTMLElement, from: number | undefined): void {
  const by = (from ?? item.offsetTop) - item.offsetTop;
  if (by === 0 || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
  item.animate([{ transform: `translateY(${by}px)` }, { transform: 'none' }], { duration: 250, easing: 'ease-out' });
}

function contentOf(row: Row, place: number | undefined, fastest: number, note?: string): readonly HTMLElement[] {
  const { backend, engine } = namesOf(row.candidate);
  const head = [
    el('span', { class: 'rank-place' }, place && row.state === 'measured' ? String(place) : ''),
    el('span', { class: 'rank-name' }, el('b', {}, backend), ' ', el('small', {}, engine)),
  ];
  const tail = note ? [el('span', { class: 'rank-note' }, note)] : [];
  if (row.state === 'skipped') {
    const [word, reason] = isWrong(row)
      ? ['Wrong: ', row.reason.replace(/^It computes wrongly: /, '')]
      : ['', row.reason];
    return [...head, el('span', { class: 'rank-reason' }, el('b', {}, word), reason), ...tail];
  }
  const track = el('span', { class: 'rank-track', 'aria-hidden': 'true' });
  if (row.state !== 'measured') return [...head, track, el('span', { class: 'rank-time' }, STATES[row.state]), ...tail];
  const share = (time: number): string => `${(fastest / time) * 100}%`;
  const [bar, whisker] = [el('span', { class: 'rank-bar' }), el('span', { class: 'rank-whisker' })];
  bar.style.width = share(row.median);
  Object.assign(whisker.style, { left: share(row.high), right: `calc(100% - ${share(row.low)})` });
  track.append(bar, whisker);
  return [
    ...head,
    track,
    el('span', { class: 'rank-time' }, el('b', {}, milliseconds(row.median)), ' ', el('small', {}, spread(row))),
    proof(row),
    ...tail,
  ];
}

function spread({ low, high }: Measured): string {
  const [from, to] = [milliseconds(low), milliseconds(high)];
  return from === to ? `always ${to}` : `${from.replace(' ms', '')} to ${to}`;
}

function proof({ proof: verdict, error, scale, wrong }: Measured): HTMLElement {
  const element = el('span', { class: 'rank-proof', 'data-proof': verdict });
  switch (verdict) {
    case 'reference':
      element.append(el('b', {}, 'Reference'), ' ', el('small', {}, 'the others are compared with it'));
      break;
    case 'none':
      element.append(el('b', {}, 'Not compared'), ' ', el('small', {}, 'WASM does not run this model'));
      break;
    case 'right':
      element.append(
        el('b', {}, 'Right'),
        ' ',
        el('small', {}, error === 0 ? 'no difference' : `largest error ${exponential(error)} of ${exponential(scale)}`),
      );
      break;
    case 'wrong':
      element.append(el('b', {}, 'Wrong'), ' ', el('small', {}, wrong));
  }
  return element;
}

/** Returns a number as `3.1e-6`; numbers that are neither small nor large as they are: `0.99`. */
function exponential(value: number): string {
  if (!Number.isFinite(value)) return 'infinity';
  return value >= 0.01 && value < 1e4 ? String(Number(value.toPrecision(2))) : value.toExponential(1);
}
