import type { Timings } from '../../src/index.js';
import { el } from '../page/dom.js';
import { milliseconds } from '../page/format.js';

const PARTS = ['preprocess', 'inference', 'postprocess', 'between'] as const;
const NAMES: Readonly<Record<(typeof PARTS)[number], string>> = {
  preprocess: 'Preprocess',
  inference: 'Inference',
  postprocess: 'Postprocess',
  between: 'Overhead',
};

export interface TimingsView {
  readonly element: HTMLElement;
  /** `roundTrip`: milliseconds from asking to the answer, as the page sees them; undefined if they are not known. */
  show(timings: Timings, roundTrip: number | undefined): void;
  clear(): void;
}

/**
 * Shows the latency of the last request: the round trip, and its stages as a bar and as numbers. Where the round trip is
 * not known, as of a camera's frames, it has no row, and neither has the overhead.
 * @param hasRoundTrip whether the first request is going to have one
 */
export function timingsView(hasRoundTrip = true): TimingsView {
  const parts = PARTS.map((part) => ({
    part,
    piece: el('span', { class: 'piece', 'data-part': part }),
    value: el('dd', {}, '–'),
  }));
  const total = el('dd', {}, '–');
  const rows = parts.map(({ part, value }) =>
    el('div', {}, el('dt', {}, el('span', { class: 'swatch', 'data-part': part }), NAMES[part]), value),
  );
  const totalRow = el('div', { class: 'total' }, el('dt', {}, 'Round trip'), total);
  const withRoundTrip = (is: boolean): void => {
    totalRow.hidden = rows[PARTS.indexOf('between')]!.hidden = !is;
  };
  withRoundTrip(hasRoundTrip);
  const element = el(
    'div',
    { class: 'timings' },
    el('div', { class: 'pieces', 'aria-hidden': 'true' }, ...parts.map(({ piece }) => piece)),
    el('dl', {}, totalRow, ...rows),
  );
  return {
    element,
    show({ preprocess = 0, inference = 0, postprocess = 0 }, roundTrip) {
      const spent = {
        preprocess,
        inference,
        postprocess,
        between: roundTrip && Math.max(0, roundTrip - preprocess - inference - postprocess),
      };
      for (const { part, piece, value } of parts) {
        piece.style.flexGrow = String(spent[part] ?? 0);
        value.textContent = inMilliseconds(spent[part]);
      }
      total.textContent = inMilliseconds(roundTrip);
      withRoundTrip(roundTrip !== undefined);
    },
    clear() {
      for (const { piece, value } of parts) {
        piece.style.flexGrow = '0';
        value.textContent = '–';
      }
      total.textContent = '–';
    },
  };
}

function inMilliseconds(time: number | undefined): string {
  return time === undefined ? '–' : milliseconds(time);
}
