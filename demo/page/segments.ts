import { el } from './dom.js';

export interface Segments<Value extends string> {
  readonly element: HTMLElement;
  readonly value: Value;
}

/** Creates radio buttons in a row; the first is checked. `labels`: value → label. */
export function segments<Value extends string>(
  name: string,
  title: string,
  labels: Readonly<Record<Value, string>>,
  changed: (value: Value) => void,
): Segments<Value> {
  const values = Object.keys(labels) as Value[];
  let value = values[0]!;
  const radios = values.map((own) => {
    const radio = el('input', { type: 'radio', name, value: own });
    radio.checked = own === value;
    radio.addEventListener('change', () => {
      value = own;
      changed(own);
    });
    return el('label', {}, radio, el('span', {}, labels[own]));
  });
  return {
    element: el('div', { class: 'segments', role: 'radiogroup', 'aria-label': title }, ...radios),
    get value() {
      return value;
    },
  };
}
