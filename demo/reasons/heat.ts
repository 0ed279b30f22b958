import { paintHeatMap, type ImageExplanation, type ImageExplainParams } from '../../src/index.js';
import type { Output } from '../demo.js';
import { button, el } from '../page/dom.js';
import { percent } from '../page/format.js';
import { segments } from '../page/segments.js';
import type { Work } from './work.js';

const METHODS = { occlusion: 'Occlusion', rise: 'RISE' } as const;
type Method = keyof typeof METHODS;

const HOW: Readonly<Record<Method, string>> = {
  occlusion:
    'A window that hides what is under it moves over the picture. Red is where the score falls while the window is there.',
  rise: 'Random masks hide half of the picture each time. Red is what was visible when the score was high.',
};

export interface HeatOutput extends Output<ImageExplanation | undefined> {
  /** Offers the classes that can be explained. */
  offer(labels: readonly string[]): void;
}

/** Shows which parts of a picture support a class, in red over it. */
export function heat(
  over: HTMLElement,
  work: Work,
  paramsOf: Readonly<Record<Method, ImageExplainParams>>,
  changed: () => void,
): HeatOutput {
  const canvas = el('canvas', { class: 'heat-layer', 'aria-hidden': 'true' });
  over.append(canvas);
  const name = el('span', { class: 'top-name' });
  const share = el('span', { class: 'top-share' });
  const target = el('select', { 'aria-label': 'Class to explain' }, el('option', { value: '' }, 'The likeliest class'));
  const method = segments('method', 'Method', METHODS, () => start());
  const how = el('p', { class: 'advice' });
  const bar = el('progress', { 'aria-label': 'Explanation' });
  const count = el('span', { class: 'heat-count' });
  const again = button('Explain again', () => (isRunning ? cancel() : changed()));
  let isRunning = false;
  /** What the address asked for, until the classes are known. */
  let wanted = '';

  const clear = (): void => {
    canvas.width = 0;
    name.textContent = 'No result yet';
    share.textContent = '';
    element.toggleAttribute('data-empty', true);
  };
  /** Ends the explanation: what is known of it so far is not its result. */
  const cancel = (): void => {
    work.cancel();
    clear();
  };
  const start = (): void => {
    how.textContent = HOW[method.value];
    changed();
  };
  target.addEventListener('change', () => {
    wanted = target.value;
    changed();
  });
  work.onProgress = (progress) => {
    isRunning = progress !== undefined;
    again.disabled = false;
    again.textContent = isRunning ? 'Cancel' : 'Explain again';
    bar.max = progress?.total ?? 1;
    bar.value = progress?.done ?? 0;
    count.textContent = progress && progress.total > 1 ? `${progress.done} of ${progress.total} variants` : '';
    if (progress?.explanation) paint(progress.explanation);
  };
  const paint = (explanation: ImageExplanation): void => {
    const { width, height, label, score } = explanation;
    [canvas.width, canvas.height] = [width, height];
    canvas.getContext('2d')!.putImageData(paintHeatMap(explanation), 0, 0);
    name.textContent = label;
    share.textContent = percent(score);
    element.removeAttribute('data-empty');
  };
  const element = el(
    'div',
    { class: 'heat-answer' },
    el('p', { class: 'headline' }, name, share),
    el('div', { class: 'heat-work' }, bar, count, again),
    method.element,
    el('label', { class: 'heat-class' }, el('span', {}, 'Why'), target),
    how,
  );
  how.textContent = HOW[method.value];
  clear();
  bar.value = 0;
  again.disabled = true;

  return {
    element,
    get params() {
      return { method: method.value, ...paramsOf[method.value], ...(wanted && { target: wanted }) };
    },
    get settings() {
      return { method: method.value, why: wanted };
    },
    restore({ method: asked, why = '' }) {
      method.select(asked);
      how.textContent = HOW[method.value];
      wanted = why;
    },
    offer(labels) {
      target.append(...labels.map((label) => el('option', { value: label }, label)));
      if (!labels.includes(wanted)) wanted = '';
      target.value = wanted;
    },
    show(explanation) {
      if (!explanation) return 'Canceled';
      paint(explanation);
      const { label, score } = explanation;
      return `What supports ${label}, ${percent(score)}, is red in the picture.`;
    },
    clear,
    dispose: () => work.cancel(),
  };
}
