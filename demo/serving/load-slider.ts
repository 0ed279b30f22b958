import { button, el } from '../page/dom.js';
import { MAX_MULTIPLE, PRESETS, STEP, type Load } from './load.js';
import { inShort } from './numbers.js';

export interface LoadSlider {
  readonly element: HTMLElement;
  /** Shows the load; without a capacity nothing can be moved. */
  update(): void;
}

/**
 * Creates a slider for the load with a scale of the capacity, and a button for each preset. `moved` is called when the visitor
 * changes the load, `settled` when the hand has left the slider.
 */
export function loadSlider(load: Load, moved: () => void, settled: () => void): LoadSlider {
  const range = el('input', { type: 'range', id: 'load', min: '0', max: String(MAX_MULTIPLE), step: String(STEP) });
  const rate = el('output', { for: 'load', class: 'load-rate' });
  const presets = Object.entries(PRESETS).map(([name, multiple]) => {
    const element = button(`${name}, ${multiple === 0.5 ? '½' : multiple} ×`, () => {
      load.set(multiple);
      update();
      moved();
      settled();
    });
    return { element, multiple };
  });
  const marks = [0, 1, 2, 3, 4].map((multiple) => {
    const mark = el('span', { class: 'load-mark' });
    mark.style.setProperty('--at', String(multiple / MAX_MULTIPLE));
    return { mark, multiple };
  });
  const update = (): void => {
    const { capacity, multiple, rate: perSecond } = load;
    range.disabled = capacity === undefined;
    range.valueAsNumber = multiple;
    const times = `${Number(multiple.toFixed(2))} × capacity`;
    rate.replaceChildren(
      ...(capacity === undefined
        ? []
        : [el('strong', {}, inShort(perSecond)), ' requests a second', el('span', { class: 'quiet' }, ` · ${times}`)]),
    );
    range.setAttribute('aria-valuetext', `${inShort(perSecond)} requests a second, ${times}`);
    for (const { element, multiple: own } of presets) {
      element.disabled = capacity === undefined;
      element.setAttribute('aria-pressed', String(own === multiple));
    }
    for (const { mark, multiple: own } of marks) {
      mark.textContent =
        own === 0 ? '0' : own === 1 && capacity !== undefined ? `capacity, ${inShort(capacity)}/s` : `${own} ×`;
    }
  };
  range.addEventListener('input', () => {
    load.set(range.valueAsNumber);
    update();
    moved();
  });
  range.addEventListener('change', settled);
  update();
  return {
    element: el(
      'div',
      { class: 'load-slider' },
      el(
        'div',
        { class: 'load-head' },
        el('label', { for: 'load' }, 'Load'),
        rate,
        el(
          'div',
          { class: 'load-presets', role: 'group', 'aria-label': 'Presets' },
          ...presets.map(({ element }) => element),
        ),
      ),
      el(
        'div',
        { class: 'load-track' },
        range,
        el('div', { class: 'load-marks', 'aria-hidden': 'true' }, ...marks.map(({ mark }) => mark)),
      ),
    ),
    update,
  };
}
