import { el } from './dom.js';

export interface Slider {
  readonly element: HTMLElement;
  readonly value: number;
  /** Moves it, within its limits. It calls no listener. */
  set(value: number): void;
}

/** Creates a slider with its name and its value as text. */
export function slider(
  name: string,
  {
    value,
    min,
    max,
    step,
    says,
  }: {
    readonly value: number;
    readonly min: number;
    readonly max: number;
    readonly step: number;
    says(value: number): string;
  },
  changed: () => void,
): Slider {
  const range = el('input', {
    type: 'range',
    min: String(min),
    max: String(max),
    step: String(step),
    value: String(value),
    'aria-label': name,
  });
  const text = el('span', { class: 'slider-value' }, says(value));
  range.setAttribute('aria-valuetext', says(value));
  const tell = (): void => {
    text.textContent = says(range.valueAsNumber);
    range.setAttribute('aria-valuetext', says(range.valueAsNumber));
  };
  range.addEventListener('input', () => {
    tell();
    changed();
  });
  return {
    element: el('div', { class: 'slider' }, el('span', {}, name), text, range),
    get value() {
      return range.valueAsNumber;
    },
    set(to) {
      // An address may say any number, and the browser refuses an infinite one.
      range.value = String(to);
      tell();
    },
  };
}
