import { paintPicture, type Picture } from '../../src/index.js';
import type { Output } from '../demo.js';
import type { PhotoStage } from '../inputs/photo-stage.js';
import { button, el } from '../page/dom.js';
import { compare } from './compare.js';
import { savePng } from './save-png.js';

/** Shows a picture that the model has enlarged beside the browser's own enlargement, with a slider between them. */
export function enlarged(stage: PhotoStage, refused: (error: unknown) => void): Output<Picture> {
  const canvas = el('canvas', { 'aria-hidden': 'true' });
  stage.layers.append(canvas);
  const compared = compare(stage.layers, 'Browser', 'Model');
  const name = el('span', { class: 'top-name' });
  const download = button('Download PNG', () => void savePng(canvas, 'tabserve-enlarged.png').catch(refused));
  const element = el(
    'div',
    {},
    el('p', { class: 'headline' }, name),
    el(
      'p',
      { class: 'advice' },
      'Move the slider over the picture: on its left is what the browser makes of the photo, on its right what the model makes.',
    ),
    el('div', { class: 'actions' }, download),
  );
  const clear = (): void => {
    canvas.width = 0;
    compared.show(false);
    download.disabled = true;
    name.textContent = 'No result yet';
    element.toggleAttribute('data-empty', true);
  };
  clear();

  return {
    element,
    show(picture) {
      const { width, height } = picture;
      [canvas.width, canvas.height] = [width, height];
      canvas.getContext('2d')!.putImageData(paintPicture(picture), 0, 0);
      compared.show(true);
      download.disabled = false;
      const { size } = stage;
      name.textContent = `${size ? `${size.width} × ${size.height} → ` : ''}${width} × ${height}`;
      element.removeAttribute('data-empty');
      return `Enlarged to ${width} by ${height} pixels`;
    },
    clear,
  };
}
