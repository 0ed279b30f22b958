import { el } from './dom.js';

/** Creates a section that its heading names. @param id of the heading */
export function section(id: string, title: string, ...children: readonly Node[]): HTMLElement {
  return el('section', { 'aria-labelledby': id }, el('h2', { id }, title), ...children);
}
