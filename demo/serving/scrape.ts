import { copies } from '../page/copy.js';
import { button, el } from '../page/dom.js';

/** Shows the metrics as Prometheus text at a click. `text` returns undefined while no model runs. */
export function scrape(text: () => string | undefined): HTMLElement {
  const shown = el('code');
  const field = el('pre', { tabindex: '0', 'aria-label': 'Prometheus text', hidden: '' }, shown);
  const copy = el('button', { type: 'button' }, 'Copy');
  const read = (): string => text() ?? '# No model is running.\n';
  copies(copy, read);
  const show = button('Show', () => {
    shown.textContent = read();
    field.hidden = false;
    show.textContent = 'Refresh';
  });
  return el('div', { class: 'scrape' }, el('div', { class: 'actions' }, show, copy), field);
}
