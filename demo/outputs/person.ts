import type { SoftMask } from '../../src/index.js';
import type { Output } from '../demo.js';
import type { PictureStage, Shown } from '../inputs/picture-stage.js';
import { el } from '../page/dom.js';
import { percent } from '../page/format.js';
import { segments } from '../page/segments.js';
import { compositor, type Backdrop } from './compositor.js';

const BACKDROPS: Readonly<Record<Backdrop, string>> = {
  blur: 'Blur',
  scenery: 'Evening',
  color: 'Color',
  mask: 'Mask',
};

/** Shows the person of the stage's picture in front of another background. */
export function person(stage: PictureStage): Output<SoftMask> {
  const composed = compositor(stage.canvas);
  const name = el('span', { class: 'top-name' });
  const part = el('span', { class: 'top-share' });
  const color = el('input', { type: 'color', value: '#2f7a68', 'aria-label': 'Color of the background' });
  let mask: SoftMask | undefined;
  /** The picture that the mask belongs to. */
  let of: Shown | undefined;

  const draw = (): void => {
    if (!mask) composed.clear();
    else if (of && of === stage.shown) composed.draw(of, mask, backdrop.value, color.value);
    color.hidden = backdrop.value !== 'color';
  };
  const backdrop = segments('backdrop', 'Background', BACKDROPS, draw);
  color.addEventListener('input', draw);
  const element = el(
    'div',
    { class: 'person' },
    el('p', { class: 'headline' }, name, part),
    el('div', { class: 'backdrop' }, backdrop.element, color),
  );

  const say = (): string => {
    element.toggleAttribute('data-empty', !mask);
    name.textContent = mask ? 'Person' : 'No result yet';
    part.textContent = mask ? percent(share(mask)) : '';
    return `Person: ${part.textContent} of the picture`;
  };
  say();
  draw();

  return {
    element,
    // A map of the model's own size is small enough for the page, and the canvas enlarges it softly.
    params: { result: 'mask', size: 'model' },
    show(result) {
      mask = result;
      of = stage.shown;
      draw();
      return say();
    },
    clear() {
      mask = undefined;
      draw();
      say();
    },
  };
}

function share({ mask }: SoftMask): number {
  let sum = 0;
  for (const probability of mask) sum += probability;
  return sum / mask.length;
}
