import type { SoftMask } from '../../src/index.js';
import type { Output } from '../demo.js';
import type { PictureStage, Shown } from '../inputs/picture-stage.js';
import { button, el } from '../page/dom.js';
import { percent } from '../page/format.js';
import { segments } from '../page/segments.js';
import { compare } from './compare.js';
import { compositor, type Backdrop } from './compositor.js';
import { savePng } from './save-png.js';
import { shareOf } from './share.js';

const BACKDROPS: Readonly<Record<Backdrop, string>> = {
  blur: 'Blur',
  scenery: 'Evening',
  color: 'Color',
  mask: 'Mask',
};
/** Pixels of the longer side. */
const ON_SCREEN = 1920;
const IN_FILE = 8192;
/** A mask with less than this share of the picture shows no person. */
const MIN_SHARE = 0.01;

/** Shows the person of the stage's picture in front of another background. */
export function person(stage: PictureStage, refused: (error: unknown) => void): Output<SoftMask> {
  const composed = compositor(stage.canvas, ON_SCREEN);
  const compared = compare(stage.layers);
  const name = el('span', { class: 'top-name' });
  const part = el('span', { class: 'top-share' });
  const advice = el(
    'p',
    { class: 'advice' },
    'Choose a picture of a person. Their face or upper body should be large in it.',
  );
  const color = el('input', { type: 'color', value: '#2f7a68', 'aria-label': 'Color of the background' });
  let mask: SoftMask | undefined;
  /** The picture that the mask belongs to. */
  let of: Shown | undefined;

  const share = (): number => (mask ? shareOf(mask) : 0);
  const draw = (): void => {
    const found = share() >= MIN_SHARE;
    if (!found || !mask) composed.clear();
    else if (of && of === stage.shown) composed.draw(of, mask, backdrop.value, color.value);
    color.hidden = backdrop.value !== 'color';
    compared.show(found);
    download.disabled = !found;
  };
  const save = (): void => {
    let { canvas } = stage;
    // Of a photo, in its own size. A camera's frame is gone by now.
    if (mask && of && of === stage.shown) {
      canvas = el('canvas');
      compositor(canvas, IN_FILE).draw(of, mask, backdrop.value, color.value);
    }
    savePng(canvas, `tabserve-${backdrop.value}.png`).catch(refused);
  };
  const download = button('Download PNG', save);
  const backdrop = segments('backdrop', 'Background', BACKDROPS, draw);
  color.addEventListener('input', draw);
  const element = el(
    'div',
    { class: 'person' },
    el('p', { class: 'headline' }, name, part),
    advice,
    el('div', { class: 'backdrop' }, backdrop.element, color),
    el('div', { class: 'actions' }, download),
  );

  const say = (): string => {
    const found = share() >= MIN_SHARE;
    element.toggleAttribute('data-empty', !mask);
    name.textContent = !mask ? 'No result yet' : found ? 'Person' : 'No person found';
    part.replaceChildren(...(found ? [percent(share()), el('small', {}, ' of the picture')] : []));
    advice.hidden = !mask || found;
    return found ? `Person: ${part.textContent}` : 'No person found. The photo is unchanged.';
  };
  say();
  draw();

  return {
    element,
    // A map of the model's own size is small enough for the page, and the canvas enlarges it softly.
    params: { result: 'mask', size: 'model' },
    get settings() {
      return { backdrop: backdrop.value, color: color.value };
    },
    restore({ backdrop: wanted, color: shade }) {
      backdrop.select(wanted);
      if (shade) color.value = shade;
      draw();
    },
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
