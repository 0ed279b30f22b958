import { el } from './dom.js';

/** Creates a section of a page: a heading, a sentence about it, and its content. */
export function part(title: string, says: string, ...content: readonly HTMLElement[]): HTMLElement {
  const heading = el('h2', {}, title);
  heading.id = `part-${title.toLowerCase().replaceAll(' ', '-')}`;
  return el('section', { 'aria-labelledby': heading.id }, heading, el('p', { class: 'says' }, says), ...content);
}
