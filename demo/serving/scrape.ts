import { copies } from '../page/copy.js';
import { button, el } from '../page/dom.js';

/** The metrics as Prometheus' text, when asked for. `text`: undefined while nothing runs. */
export function scrape(text: () => string | undefined): HTMLElement {
  const shown = el('code');
  const field = el('pre', { tabindex: '0', 'aria-label': 'Prometheus text', hidden: '' }, shown);
  const copy = el('button', { type: 'button' }, 'Copy');
  const read = (): string => text() ?? '# Nothing runs.\n';
  copies(copy, read);
  const show = button('Show', () => {
    shown.textContent = read();
    field.hidden = false;
    show.textContent = 'Show anew';
  });
  return el('div', { class: 'scrape' }, el('div', { class: 'actions' }, show, copy), field);
}
