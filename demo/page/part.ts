import { el } from './dom.js';

/** A part of a page: its heading, what it is about in a sentence, and what is in it. */
export function part(title: string, says: string, ...content: readonly HTMLElement[]): HTMLElement {
  const heading = el('h2', {}, title);
  heading.id = `part-${title.toLowerCase().replaceAll(' ', '-')}`;
  return el('section', { 'aria-labelledby': heading.id }, heading, el('p', { class: 'says' }, says), ...content);
}
