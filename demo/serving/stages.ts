import { el } from '../page/dom.js';
import { roughly } from './numbers.js';
import { SECONDS, type Quantiles } from './recent.js';

/** The stages of a request, and their labels. */
const NAMES = {
  queue: 'Queue',
  preprocess: 'Preprocess',
  inference: 'Inference',
  postprocess: 'Postprocess',
  total: 'Total',
} as const;
export type Part = keyof typeof NAMES;
export const PARTS = Object.keys(NAMES) as readonly Part[];

export interface Stages {
  readonly element: HTMLElement;
  show(times: Readonly<Record<Part, Quantiles>>): void;
}

/** Shows the percentiles of every stage, as numbers and as bars on one scale. */
export function stageTable(): Stages {
  const rows = PARTS.map((part) => {
    const cells = [el('td'), el('td'), el('td')] as const;
    const bars = ['p99', 'p95', 'p50'].map((name) => el('span', { 'data-quantile': name }));
    const name = el(
      'div',
      { class: 'stage-name' },
      NAMES[part],
      el('span', { class: 'stage-track', 'aria-hidden': 'true' }, ...bars),
    );
    return { part, cells, bars, row: el('tr', { 'data-stage': part }, el('th', { scope: 'row' }, name), ...cells) };
  });
  const heads = ['p50', 'p95', 'p99'].map((name) =>
    el('th', { scope: 'col' }, el('span', { class: 'swatch', 'data-quantile': name }), name),
  );
  const element = el(
    'figure',
    { class: 'stages' },
    el(
      'figcaption',
      {},
      el('h3', {}, 'Latency by stage'),
      el(
        'p',
        { class: 'quiet' },
        `Last ${SECONDS} seconds. Preprocess, inference and postprocess are those of the whole batch.`,
      ),
    ),
    el(
      'table',
      { 'aria-label': 'Latency by stage' },
      el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'Stage'), ...heads)),
      el('tbody', {}, ...rows.map(({ row }) => row)),
    ),
  );
  return {
    element,
    show(times) {
      const longest = times.total[2];
      for (const { part, cells, bars } of rows) {
        for (const [index, cell] of cells.entries()) {
          const value = times[part][index]!;
          cell.textContent = roughly(value);
          bars[2 - index]!.style.transform = `scaleX(${longest > 0 && value > 0 ? Math.min(1, value / longest) : 0})`;
        }
      }
    },
  };
}
