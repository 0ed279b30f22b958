import { el } from '../page/dom.js';

/** A picture of the collection. */
export interface Entry {
  readonly source: Blob | URL;
  readonly name: string;
  /** Its features; undefined until the model has answered. */
  vector: Float32Array | undefined;
  readonly tile: Tile;
}

export interface Tile {
  readonly element: HTMLElement;
  /** Shows how much the picture is like the chosen one; undefined if that is not known, or it is the chosen one. */
  say(score: number | undefined, isChosen: boolean): void;
  /** Says that the picture could not be read. */
  failed(): void;
  dispose(): void;
}

/** Creates the button of a picture. */
export function tile(source: Blob | URL, name: string, choose: () => void): Tile {
  const url = source instanceof URL ? source.href : URL.createObjectURL(source);
  const image = el('img', { src: url, alt: name, draggable: 'false' });
  const score = el('span', { class: 'alike-score' });
  const button = el('button', { type: 'button', class: 'alike-tile' }, image, score);
  button.addEventListener('click', choose);
  return {
    element: el('li', {}, button),
    say(value, isChosen) {
      button.setAttribute('aria-pressed', String(isChosen));
      score.textContent = isChosen ? 'Chosen' : value === undefined ? '…' : value.toFixed(2);
    },
    failed() {
      button.disabled = true;
      score.textContent = 'Not an image';
    },
    dispose: () => source instanceof Blob && URL.revokeObjectURL(url),
  };
}
