import { paintPicture, type Picture } from '../../../src/index.js';
import type { PictureStage } from '../../inputs/picture-stage.js';
import { savePng } from '../../outputs/save-png.js';
import { button, el } from '../../page/dom.js';
import { percent } from '../../page/format.js';
import type { AnswerView, TaskEvents } from '../task.js';
import { headed } from './headed.js';
import { overlay } from './overlay.js';

/** Shows a picture over the photo that it was made of. */
export function pictureView(stage: PictureStage, { refused }: TaskEvents): AnswerView<Picture> {
  const drawn = overlay(stage, 'Answer');
  const download = button('Download PNG', () => void savePng(stage.canvas, 'tabserve-answer.png').catch(refused));
  const { element, head } = headed(el('div', { class: 'actions' }, download));
  download.disabled = true;
  return {
    element,
    show(picture) {
      const size = `${picture.width} × ${picture.height}`;
      drawn.draw(paintPicture(picture));
      head(size);
      download.disabled = false;
      return `A picture, ${size}.`;
    },
    clear() {
      drawn.clear();
      head(undefined);
      download.disabled = true;
    },
  };
}

/** Shows what is left of a photo without its background, in front of a color that the visitor chooses. */
export function cutOutView(stage: PictureStage, { refused }: TaskEvents): AnswerView<Picture> {
  const drawn = overlay(stage, 'Cut-out');
  const color = el('input', { type: 'color', value: '#2f7a68', 'aria-label': 'Color of the background' });
  let current: Picture | undefined;
  const draw = (): void => {
    if (current) drawn.draw(paintPicture(current), color.value);
    else drawn.clear();
    download.disabled = !current;
  };
  const save = async (): Promise<void> => {
    const { width, height } = current!;
    const canvas = el('canvas');
    [canvas.width, canvas.height] = [width, height];
    canvas.getContext('2d')!.putImageData(paintPicture(current!), 0, 0);
    await savePng(canvas, 'tabserve-cut-out.png');
  };
  const download = button('Download PNG, transparent', () => void save().catch(refused));
  color.addEventListener('input', draw);
  const { element, head } = headed(
    el('label', { class: 'backdrop' }, color, el('span', {}, 'Behind it')),
    el('div', { class: 'actions' }, download),
  );
  draw();
  return {
    element,
    show(picture) {
      current = picture;
      draw();
      const share = percent(opaqueShare(picture));
      head('Cut-out', `${share} is left`);
      return `${share} of the photo is left.`;
    },
    clear() {
      current = undefined;
      draw();
      head(undefined);
    },
  };
}

/** Returns the mean opacity of a picture, in 0..1. */
function opaqueShare({ data }: Picture): number {
  let sum = 0;
  for (let at = 3; at < data.length; at += 4) sum += data[at]!;
  return sum / 255 / (data.length / 4);
}
