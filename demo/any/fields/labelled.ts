import { el } from '../../page/dom.js';
import { Explained } from '../../page/explained.js';

/** Creates a field for text, in several rows. */
export function area(label: string, value: string): HTMLTextAreaElement {
  const rows = String(Math.min(8, Math.max(2, value.split('\n').length + 1, Math.ceil(value.length / 60))));
  const field = el('textarea', { class: 'text', rows, dir: 'auto', 'aria-label': label, spellcheck: 'false' });
  field.value = value;
  return field;
}

/** Creates a field for text, in one row. Enter asks the model. */
export function line(label: string, value: string): HTMLInputElement {
  const field = el('input', { type: 'text', class: 'any-line', 'aria-label': label, autocomplete: 'off', dir: 'auto' });
  field.value = value;
  return field;
}

/** Puts a field under its name. */
export function labelled(field: HTMLElement): HTMLElement {
  return el('label', {}, el('span', {}, field.ariaLabel!), field);
}

/** Returns what a visitor has written as JSON. @throws that it is none */
export function readJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new Explained(`${what} must be JSON: ${(error as Error).message}`);
  }
}

/** Returns the names that a visitor has written, with commas between them. @throws that there are none */
export function namesOf(text: string, what: string): readonly string[] {
  const names = text.split(',').flatMap((name) => name.trim() || []);
  if (names.length === 0) throw new Explained(`Write ${what}, with commas between them.`);
  return [...new Set(names)];
}

/** Returns a text that a visitor has written. @throws that there is none */
export function textOf(field: HTMLInputElement | HTMLTextAreaElement): string {
  const { value } = field;
  if (value.trim() === '') throw new Explained(`The field “${field.ariaLabel!}” is empty: write something.`);
  return value;
}
