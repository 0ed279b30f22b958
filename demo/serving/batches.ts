import { el } from '../page/dom.js';

export interface Batches {
  readonly element: HTMLElement;
  /** @param counts number of batches by size @param most the largest size */
  show(counts: ReadonlyMap<number, number>, most: number): void;
}

/** Shows how many batches had each size. */
export function batchChart(): Batches {
  const bars = el('div', { class: 'batch-bars', 'aria-hidden': 'true' });
  const mean = el('b', {}, '–');
  const often = el('b', {}, '–');
  const element = el(
    'figure',
    { class: 'plot' },
    el(
      'figcaption',
      {},
      el('h3', {}, 'Batch sizes'),
      el('ul', {}, el('li', {}, 'mean ', mean), el('li', {}, 'most common ', often)),
    ),
    bars,
  );
  return {
    element,
    show(counts, most) {
      const sizes = Array.from({ length: most }, (_, index) => index + 1);
      const batches = [...counts.values()].reduce((sum, count) => sum + count, 0);
      const largest = Math.max(...counts.values());
      if (bars.childElementCount !== most) bars.replaceChildren(...sizes.map((size) => bar(size, most)));
      for (const [index, size] of sizes.entries()) {
        const fill = (bars.children[index] as HTMLElement).firstElementChild as HTMLElement;
        fill.style.transform = `scaleY(${batches > 0 ? (counts.get(size) ?? 0) / largest : 0})`;
      }
      const rows = [...counts].reduce((sum, [size, count]) => sum + size * count, 0);
      mean.textContent = batches > 0 ? (rows / batches).toFixed(1) : '–';
      often.textContent = batches > 0 ? String([...counts].sort(([, a], [, b]) => b - a)[0]![0]) : '–';
    },
  };
}

/** Creates the bar of one size; of many bars only some are labeled. */
function bar(size: number, most: number): HTMLElement {
  const named = most <= 8 || size === 1 || size % (most / 4) === 0;
  return el('span', {}, el('span', { class: 'batch-fill' }), el('small', {}, named ? String(size) : ''));
}
