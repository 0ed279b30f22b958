import { el } from './dom.js';

export interface Segments<Value extends string> {
  readonly element: HTMLElement;
  readonly value: Value;
  /** Checks a radio button, and ignores an unknown value. It calls no listener. */
  select(value: string | undefined): void;
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
    return { radio, label: el('label', {}, radio, el('span', {}, labels[own])) };
  });
  return {
    element: el(
      'div',
      { class: 'segments', role: 'radiogroup', 'aria-label': title },
      ...radios.map(({ label }) => label),
    ),
    get value() {
      return value;
    },
    select(wanted) {
      const found = radios.find(({ radio }) => radio.value === wanted)?.radio;
      if (!found) return;
      found.checked = true;
      value = found.value as Value;
    },
  };
}
