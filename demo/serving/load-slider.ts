import { el } from '../page/dom.js';
import { inShort } from './numbers.js';

/** The slider goes so many times past the capacity. */
const PAST = 3;

export interface LoadSlider {
  readonly element: HTMLElement;
  /** Requests a second. */
  rate: number;
  /** Marks what can be answered, in requests a second; the scale grows with it, and never shrinks while settings are tried. */
  capacity(perSecond: number): void;
  /** Another model or backend: nothing is known of it. */
  reset(): void;
}

/** How much comes in, with the measured capacity marked on it. */
export function loadSlider(changed: () => void): LoadSlider {
  const range = el('input', { type: 'range', id: 'load', min: '0', max: '1', step: '1', value: '0', disabled: '' });
  const value = el('output', { for: 'load', class: 'load-rate' });
  const mark = el('span', { class: 'load-mark', hidden: '' });
  const element = el(
    'div',
    { class: 'load-slider' },
    el('div', { class: 'load-head' }, el('label', { for: 'load' }, 'Load'), value),
    el('div', { class: 'load-track' }, range, el('div', { class: 'load-marks', 'aria-hidden': 'true' }, mark)),
  );
  let top = 0;
  let known: number | undefined;
  const says = (): void => {
    const rate = range.valueAsNumber;
    const times = known === undefined ? '' : `${(rate / known).toFixed(rate / known < 0.095 ? 2 : 1)} × capacity`;
    value.replaceChildren(
      el('strong', {}, inShort(rate)),
      ' requests/s',
      ...(times ? [el('span', { class: 'quiet' }, ` · ${times}`)] : []),
    );
    range.setAttribute('aria-valuetext', `${inShort(rate)} requests a second${times && `, ${times}`}`);
  };
  range.addEventListener('input', () => {
    says();
    changed();
  });
  says();
  return {
    element,
    get rate() {
      return range.valueAsNumber;
    },
    set rate(perSecond) {
      range.valueAsNumber = perSecond;
      says();
    },
    capacity(perSecond) {
      const { valueAsNumber } = range;
      known = perSecond;
      // Not at every little more: a scale that moves under the hand is no scale.
      if (perSecond * PAST > top * 1.25) top = perSecond * PAST;
      // Two digits: steps that a hand and an arrow key can make.
      const step = 10 ** (Math.floor(Math.log10(top)) - 1) / 2;
      Object.assign(range, { step: String(step), max: String(Math.ceil(top / step) * step), disabled: false });
      range.valueAsNumber = valueAsNumber;
      const share = perSecond / Number(range.max);
      mark.hidden = false;
      mark.style.setProperty('--at', String(share));
      mark.textContent = `${inShort(perSecond)}/s can be answered`;
      says();
    },
    reset() {
      top = 0;
      known = undefined;
      range.disabled = true;
      range.valueAsNumber = 0;
      mark.hidden = true;
      says();
    },
  };
}
