import type { CandidateName } from '../../src/index.js';
import { el } from '../page/dom.js';
import { milliseconds } from '../page/format.js';
import type { Deviation } from './statistics.js';

/** A candidate, and its measurements so far. */
export type Row = { readonly candidate: CandidateName } & (
  | { readonly state: 'waiting' | 'measuring' | 'canceled' }
  | { readonly state: 'failed'; readonly reason: string }
  | {
      readonly state: 'measured';
      readonly median: number;
      readonly p95: number;
      /** Undefined where there was no WASM to compare with. */ readonly deviation: Deviation | undefined;
    }
);

export interface Chart {
  readonly element: HTMLElement;
  show(rows: readonly Row[]): void;
}

const STATES = {
  waiting: 'waiting',
  measuring: 'being measured…',
  canceled: 'not measured',
  failed: 'does not run',
} as const;

/** Shows median and 95th percentile as bars, and in a table with errors and reasons. */
export function chart(): Chart {
  const bars = el('ol', { class: 'contest-bars' });
  const body = el('tbody');
  const element = el(
    'div',
    { class: 'contest' },
    el(
      'figure',
      { 'aria-hidden': 'true' },
      bars,
      el(
        'figcaption',
        {},
        el('span', { class: 'swatch swatch-median' }),
        'median',
        el('span', { class: 'swatch swatch-p95' }),
        '95th percentile',
      ),
    ),
    el(
      'table',
      { 'aria-label': 'Candidates side by side' },
      el(
        'thead',
        {},
        el(
          'tr',
          {},
          ...['Candidate', 'Median', '95th percentile', 'Error against WASM'].map((name) =>
            el('th', { scope: 'col' }, name),
          ),
        ),
      ),
      body,
    ),
  );
  return {
    element,
    show(rows) {
      const longest = Math.max(0, ...rows.map((row) => (row.state === 'measured' ? row.p95 : 0)));
      bars.replaceChildren(...rows.map((row) => bar(row, longest)));
      body.replaceChildren(...rows.map(line));
    },
  };
}

function bar(row: Row, longest: number): HTMLElement {
  const track = el('span', { class: 'contest-track' });
  const says = el(
    'span',
    { class: 'contest-says' },
    row.state === 'measured' ? `${milliseconds(row.median)} · ${milliseconds(row.p95)}` : STATES[row.state],
  );
  if (row.state === 'measured') {
    for (const part of ['p95', 'median'] as const) {
      const fill = el('span', { class: `contest-${part}` });
      fill.style.transform = `scaleX(${row[part] / longest})`;
      track.append(fill);
    }
  }
  return el('li', { 'data-state': row.state }, el('span', { class: 'contest-name' }, row.candidate), track, says);
}

function line(row: Row): HTMLElement {
  const name = el('th', { scope: 'row' }, row.candidate);
  if (row.state !== 'measured')
    return el(
      'tr',
      { 'data-state': row.state },
      name,
      el('td', { colspan: '3' }, row.state === 'failed' ? row.reason : STATES[row.state]),
    );
  return el(
    'tr',
    {},
    name,
    el('td', {}, milliseconds(row.median)),
    el('td', {}, milliseconds(row.p95)),
    deviationCell(row),
  );
}

function deviationCell({ candidate, deviation }: Row & { readonly state: 'measured' }): HTMLElement {
  if (candidate.endsWith('/wasm')) return el('td', { class: 'quiet' }, 'the reference');
  if (!deviation) return el('td', { class: 'quiet' }, 'no reference');
  const { error, relative, wrong } = deviation;
  if (error === 0) return el('td', {}, 'none');
  const cell = el('td', {}, number(error), el('small', {}, `${number(relative)} of the largest`));
  if (wrong !== undefined) {
    cell.dataset['wrong'] = '';
    cell.append(el('small', {}, `computes wrongly: ${wrong}`));
  }
  return cell;
}

function number(value: number): string {
  return Number.isFinite(value) ? value.toExponential(1) : 'infinite';
}
