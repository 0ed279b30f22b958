import type { Classification } from '../../src/index.js';
import type { Output } from '../demo.js';
import { el } from '../page/dom.js';
import { percent } from '../page/format.js';

interface BarsOptions {
  /** Long labels are above their bars. */
  readonly longLabels?: boolean;
  /** If the best score is lower, the headline is *Not sure*. */
  readonly sureFrom?: number;
}

/**
 * Shows the best class in large, and below it `count` bars, the best first. The rows are always there: nothing moves
 * when a result comes.
 */
export function bars(count: number, { longLabels = false, sureFrom = 0 }: BarsOptions = {}): Output<Classification> {
  const name = el('span', { class: 'top-name' });
  const share = el('span', { class: 'top-share' });
  const rows = Array.from({ length: count }, () => {
    const label = el('span', { class: 'bar-label' });
    const fill = el('span', { class: 'bar-fill' });
    const value = el('span', { class: 'bar-value' });
    return { label, fill, value, element: el('li', {}, label, el('span', { class: 'bar-track' }, fill), value) };
  });
  const element = el(
    'div',
    { class: longLabels ? 'bars bars-long' : 'bars' },
    el('p', { class: 'headline' }, name, share),
    el('ol', { 'aria-label': 'Likeliest classes' }, ...rows.map((row) => row.element)),
  );

  const draw = (classes: Classification): void => {
    const [best] = classes;
    const isSure = best !== undefined && best.score >= sureFrom;
    name.textContent = !best ? 'No result yet' : isSure ? best.label : 'Not sure';
    share.textContent = !best ? '' : isSure ? percent(best.score) : `${best.label}?`;
    for (const [index, { label, fill, value }] of rows.entries()) {
      const { label: text, score } = classes[index] ?? { label: '', score: 0 };
      label.textContent = label.title = text;
      value.textContent = text && percent(score);
      fill.style.transform = `scaleX(${score})`;
    }
    element.toggleAttribute('data-empty', !best);
    element.toggleAttribute('data-unsure', best !== undefined && !isSure);
  };
  draw([]);

  return {
    element,
    isPlain: true,
    show(classes) {
      draw(classes);
      const [best] = classes;
      if (!best) return 'No result';
      return `${best.score < sureFrom ? 'Not sure. Perhaps ' : ''}${best.label}, ${percent(best.score)}`;
    },
    clear: () => draw([]),
  };
}
