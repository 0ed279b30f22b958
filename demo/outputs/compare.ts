import { el } from '../page/dom.js';

export interface Compare {
  /** Whether there is something to compare. */
  show(is: boolean): void;
}

/** Puts a slider over a picture: the canvas is visible to the right of it only, and the picture beneath to the left. */
export function compare(layers: HTMLElement, before = 'Before', after = 'After'): Compare {
  const range = el('input', {
    type: 'range',
    class: 'compare',
    min: '0',
    max: '100',
    value: '50',
    'aria-label': `Compare ${before.toLowerCase()} and ${after.toLowerCase()}`,
  });
  const tell = (): void => {
    layers.style.setProperty('--split', `${range.value}%`);
    range.setAttribute('aria-valuetext', `${before.toLowerCase()} on the left ${range.value} %`);
  };
  range.addEventListener('input', tell);
  const parts = [
    range,
    el('span', { class: 'compare-line', 'aria-hidden': 'true' }),
    el('span', { class: 'compare-side', 'data-side': 'before', 'aria-hidden': 'true' }, before),
    el('span', { class: 'compare-side', 'data-side': 'after', 'aria-hidden': 'true' }, after),
  ];
  layers.append(...parts);
  tell();
  return {
    show(is) {
      for (const part of parts) part.hidden = !is;
      layers.toggleAttribute('data-compared', is);
    },
  };
}
