import { el } from '../page/dom.js';

/** Creates a section of a page that is folded: a heading, a sentence about it, and its content. */
export function fold(title: string, says: string, ...content: readonly HTMLElement[]): HTMLElement {
  const heading = el('h2', { id: `fold-${title.toLowerCase().replaceAll(' ', '-')}` }, title);
  return el(
    'section',
    { 'aria-labelledby': heading.id },
    el('details', { class: 'fold' }, el('summary', {}, heading), el('p', { class: 'says' }, says), ...content),
  );
}
