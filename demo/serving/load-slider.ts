import { el } from '../page/dom.js';
import { inShort } from './numbers.js';

/** The slider goes up to this multiple of the capacity. */
const MAX_MULTIPLE = 3;

export interface LoadSlider {
  readonly element: HTMLElement;
  /** Requests a second. */
  readonly rate: number;
  /** Sets the load to a multiple of the capacity. It follows the capacity, until the visitor moves the slider. */
  setMultiple(multiple: number): void;
  /** Sets the capacity, in requests a second, and marks it. The scale grows with it, and never shrinks while settings are tried. */
  setCapacity(perSecond: number): void;
  /** Forgets the capacity: another model or backend runs. */
  reset(): void;
}

/** A slider for the load, with the measured capacity marked on it. `moved` is called when the visitor moves it, `changed` when the rate changes otherwise. */
export function loadSlider(moved: () => void, changed: () => void): LoadSlider {
  const range = el('input', { type: 'range', id: 'load', min: '0', max: '1', step: '1', value: '0', disabled: '' });
  const value = el('output', { for: 'load', class: 'load-rate' });
  const mark = el('span', { class: 'load-mark', hidden: '' });
  const element = el(
    'div',
    { class: 'load-slider' },
    el('div', { class: 'load-head' }, el('label', { for: 'load' }, 'Load'), value),
    el('div', { class: 'load-track' }, range, el('div', { class: 'load-marks', 'aria-hidden': 'true' }, mark)),
  );
  let rate = 0;
  let capacity: number | undefined;
  /** The multiple of the capacity that a preset asked for; undefined while the visitor sets the rate. */
  let multiple: number | undefined;
  /** The end of the scale. */
  let top = 0;

  const update = (): void => {
    const times = capacity === undefined ? undefined : rate / capacity;
    const shown = times === undefined ? '' : `${times.toFixed(times < 0.095 ? 2 : 1)} × capacity`;
    value.replaceChildren(
      el('strong', {}, inShort(rate)),
      ' requests/s',
      ...(shown ? [el('span', { class: 'quiet' }, ` · ${shown}`)] : []),
    );
    range.setAttribute('aria-valuetext', `${inShort(rate)} requests a second${shown && `, ${shown}`}`);
  };
  const setRate = (perSecond: number): void => {
    rate = perSecond;
    range.valueAsNumber = perSecond;
    update();
    changed();
  };
  /** Makes the scale at least so long, with steps that a hand and an arrow key can make. */
  const extend = (least: number): void => {
    top = Math.max(top, least);
    const step = 10 ** (Math.floor(Math.log10(top)) - 1) / 2;
    Object.assign(range, { step: String(step), max: String(Math.ceil(top / step) * step), disabled: false });
    mark.style.setProperty('--at', String((capacity ?? 0) / Number(range.max)));
  };

  range.addEventListener('input', () => {
    multiple = undefined;
    rate = range.valueAsNumber;
    update();
    moved();
  });
  update();
  return {
    element,
    get rate() {
      return rate;
    },
    setMultiple(times) {
      if (capacity === undefined) return;
      multiple = times;
      extend(times * capacity);
      setRate(times * capacity);
    },
    setCapacity(perSecond) {
      capacity = perSecond;
      mark.hidden = false;
      mark.textContent = `capacity: ${inShort(perSecond)}/s`;
      const least = perSecond * (multiple ?? 0);
      // The scale does not move under the hand for every small change.
      extend(perSecond * MAX_MULTIPLE > top * 1.25 ? perSecond * MAX_MULTIPLE : least);
      setRate(multiple === undefined ? rate : multiple * perSecond);
    },
    reset() {
      rate = 0;
      capacity = undefined;
      multiple = undefined;
      top = 0;
      range.disabled = true;
      range.valueAsNumber = 0;
      mark.hidden = true;
      update();
    },
  };
}
