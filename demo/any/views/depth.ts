import { paintDepth, type DepthEstimator, type ResultOf } from '../../../src/index.js';
import type { PictureStage } from '../../inputs/picture-stage.js';
import { el } from '../../page/dom.js';
import type { AnswerView } from '../task.js';
import { headed } from './headed.js';
import { overlay } from './overlay.js';

/** Shows a depth map over the photo, and its range. */
export function depthView(stage: PictureStage): AnswerView<ResultOf<DepthEstimator>> {
  const drawn = overlay(stage, 'Depth');
  const [least, largest] = [el('span'), el('span')];
  const scale = el('div', { class: 'depth-scale', hidden: '' }, least, el('span', { 'aria-hidden': 'true' }), largest);
  const { element, head } = headed(
    scale,
    el(
      'p',
      { class: 'advice' },
      'Depth Anything and DPT predict the inverse of a distance, without a unit: what is bright is near. ZoeDepth and GLPN predict meters: what is bright is far.',
    ),
  );
  return {
    element,
    show(map) {
      const range = [map.min, map.max].map((value) => value.toPrecision(3));
      drawn.draw(paintDepth(map));
      head('Depth', `${map.width} × ${map.height}`);
      [least.textContent, largest.textContent] = range as [string, string];
      scale.hidden = false;
      return `Depth from ${range.join(' to ')}.`;
    },
    clear() {
      drawn.clear();
      head(undefined);
      scale.hidden = true;
    },
  };
}
