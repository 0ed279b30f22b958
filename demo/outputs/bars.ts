import type { Classification } from '../../src/index.js';
import type { Output } from '../demo.js';
import { el } from '../page/dom.js';
import { percent } from '../page/format.js';

/** The likeliest class in large, and below it `count` bars, the likeliest first. The rows are always there: nothing moves when a result comes. Long labels stand above their bars. */
export function bars(count: number, { longLabels = false } = {}): Output<Classification> {
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
    name.textContent = classes[0]?.label ?? 'No result yet';
    share.textContent = classes[0] ? percent(classes[0].score) : '';
    for (const [index, { label, fill, value }] of rows.entries()) {
      const { label: text, score } = classes[index] ?? { label: '', score: 0 };
      label.textContent = label.title = text;
      value.textContent = text && percent(score);
      fill.style.transform = `scaleX(${score})`;
    }
    element.toggleAttribute('data-empty', classes.length === 0);
  };
  draw([]);

  return {
    element,
    show(classes) {
      draw(classes);
      return classes[0] ? `${classes[0].label}, ${percent(classes[0].score)}` : 'nothing';
    },
    clear: () => draw([]),
  };
}
