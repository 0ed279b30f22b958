import { el } from '../page/dom.js';

/** The rate is the mean over this many frames. */
const WINDOW = 12;

export interface FrameRate {
  readonly element: HTMLElement;
  /** Counts a frame. */
  count(): void;
  reset(): void;
}

/** Shows how many frames a second are answered; it is hidden while there are none. */
export function frameRate(): FrameRate {
  const element = el('p', { class: 'rate', hidden: '' });
  let times: number[] = [];
  return {
    element,
    count() {
      times = [...times, performance.now()].slice(-WINDOW - 1);
      if (times.length < 3) return;
      const rate = ((times.length - 1) * 1000) / (times.at(-1)! - times[0]!);
      element.textContent = `${rate.toFixed(rate < 10 ? 1 : 0)} frames/s`;
      element.hidden = false;
    },
    reset() {
      times = [];
      element.hidden = true;
    },
  };
}
