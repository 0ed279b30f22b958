import type { Detection, Detections } from '../../src/index.js';
import type { Output } from '../demo.js';
import type { PictureStage } from '../inputs/picture-stage.js';
import { el } from '../page/dom.js';
import { percent } from '../page/format.js';
import { slider } from '../page/slider.js';
import { boxes } from './boxes.js';
import { palette } from './palette.js';

/** Shows boxes over the stage's picture, and a list of them; a slider sets the confidence threshold. */
export function detections(stage: PictureStage, changed: () => void): Output<Detections> {
  const colorOf = palette();
  const drawn = boxes(stage, colorOf);
  const count = el('p', { class: 'headline' });
  const list = el('ol', { class: 'detections', 'aria-label': 'Objects', tabindex: '0' });
  const threshold = slider(
    'Confidence threshold',
    { value: 0.3, min: 0.05, max: 0.9, step: 0.05, says: percent },
    changed,
  );
  const element = el('div', { class: 'found' }, count, list, threshold.element);

  const draw = (found: Detections | undefined): void => {
    count.textContent = found ? counted(found.length) : 'No result yet';
    element.toggleAttribute('data-empty', !found);
    list.replaceChildren(...(found ?? []).map((detection) => row(detection, colorOf(detection.label))));
    drawn.draw(found ?? []);
  };
  draw(undefined);

  return {
    element,
    isPlain: true,
    get settings() {
      return { threshold: String(threshold.value) };
    },
    restore({ threshold: wanted }) {
      if (Number(wanted) > 0) threshold.set(Number(wanted));
    },
    get params() {
      return { scoreThreshold: threshold.value };
    },
    show(found) {
      draw(found);
      return found.length === 0
        ? 'No object found.'
        : `${counted(found.length)}: ${found.map(({ label }) => label).join(', ')}`;
    },
    clear: () => draw(undefined),
    dispose: drawn.dispose,
  };
}

function counted(count: number): string {
  return count === 0 ? 'No object found' : count === 1 ? '1 object' : `${count} objects`;
}

function row({ label, score, box: { xmin, ymin, xmax, ymax } }: Detection, color: string): HTMLLIElement {
  const swatch = el('span', { class: 'swatch', 'aria-hidden': 'true' });
  swatch.style.background = color;
  const place = `${Math.round(xmax - xmin)} × ${Math.round(ymax - ymin)} at ${Math.round(xmin)}, ${Math.round(ymin)}`;
  return el(
    'li',
    {},
    swatch,
    el('span', { class: 'found-label' }, label),
    el('span', { class: 'found-place' }, place),
    el('span', { class: 'found-score' }, percent(score)),
  );
}
