import {
  paintClasses,
  paintInstances,
  paintMask,
  vocPalette,
  type Instance,
  type Segmentation,
} from '../../../src/index.js';
import type { PictureStage } from '../../inputs/picture-stage.js';
import { shareOf } from '../../outputs/share.js';
import { el } from '../../page/dom.js';
import { percent } from '../../page/format.js';
import type { AnswerView } from '../task.js';
import { counted, headed } from './headed.js';
import { overlay } from './overlay.js';

/** A part of a photo, in a color of its own. */
interface Region {
  readonly label: string;
  /** What is said of it: its share of the photo, or its score. */
  readonly says: string;
  readonly color: readonly [red: number, green: number, blue: number, alpha?: number];
}

const PALETTE = vocPalette(256);
/** Of a mask. */
const TINT = [10, 107, 88] as const;

/** Shows the classes, the mask or the instances of a photo in colors, and what they are. */
export function regionsView(stage: PictureStage): AnswerView<Segmentation | readonly Instance[]> {
  const drawn = overlay(stage, 'Regions');
  const list = el('ol', { class: 'detections', 'aria-label': 'Regions', tabindex: '0' });
  const { element, head } = headed(list);
  return {
    element,
    show(answer) {
      const regions = regionsOf(answer);
      drawn.draw(painted(answer));
      head(counted(regions.length, 'region'));
      list.replaceChildren(...regions.map(row));
      return `${counted(regions.length, 'region')}: ${regions.map(({ label }) => label).join(', ')}`;
    },
    clear() {
      drawn.clear();
      head(undefined);
      list.replaceChildren();
    },
  };
}

function painted(answer: Segmentation | readonly Instance[]): ImageData {
  if (!('result' in answer)) return paintInstances(answer, { alpha: 0.65 });
  return answer.result === 'mask'
    ? paintMask(answer, { color: TINT, alpha: 0.65 })
    : paintClasses(answer, { palette: PALETTE, alpha: 0.65 });
}

function regionsOf(answer: Segmentation | readonly Instance[]): readonly Region[] {
  if (!('result' in answer))
    return answer.map(({ label, score }, index) => ({
      label,
      says: percent(score),
      color: PALETTE[1 + (index % 255)]!,
    }));
  if (answer.result === 'mask') return [{ label: answer.label, says: percent(shareOf(answer)), color: TINT }];
  if (answer.result !== 'classes') return [];
  const { classes, labels } = answer;
  const counts = new Map<number, number>();
  for (const one of classes) counts.set(one, (counts.get(one) ?? 0) + 1);
  return [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .map(([index, count]) => ({
      label: labels[index] ?? String(index),
      says: percent(count / classes.length),
      color: PALETTE[index] ?? [0, 0, 0, 0],
    }));
}

function row({ label, says, color: [red, green, blue] }: Region): HTMLLIElement {
  const swatch = el('span', { class: 'swatch', 'aria-hidden': 'true' });
  swatch.style.background = `rgb(${red} ${green} ${blue})`;
  return el(
    'li',
    {},
    swatch,
    el('span', { class: 'found-label' }, label),
    el('span'),
    el('span', { class: 'found-score' }, says),
  );
}
