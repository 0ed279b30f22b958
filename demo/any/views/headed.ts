import { el } from '../../page/dom.js';

export interface Headed {
  readonly element: HTMLElement;
  /** Says what the answer is, in large; undefined: there is none yet. */
  head(what: string | undefined, more?: string): void;
}

/** Creates the frame of an answer: its headline, and what is below. */
export function headed(...content: readonly HTMLElement[]): Headed {
  const name = el('span', { class: 'top-name' });
  const share = el('span', { class: 'top-share' });
  const element = el('div', { class: 'headed' }, el('p', { class: 'headline' }, name, share), ...content);
  const head = (what: string | undefined, more = ''): void => {
    name.textContent = what ?? 'No result yet';
    share.textContent = more;
    element.toggleAttribute('data-empty', what === undefined);
  };
  head(undefined);
  return { element, head };
}

/** Writes a number of things: `1 object`, `3 objects`. */
export function counted(count: number, one: string, several = `${one}s`): string {
  return count === 1 ? `1 ${one}` : `${count === 0 ? 'No' : count} ${several}`;
}
